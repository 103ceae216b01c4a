// hf://datasets/OWNER/NAME[@REVISION]/PATH: files of the Hugging Face hub; without datasets/ those
// of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/document_reader.h"
#include "ingest/read/remote/fetch.h"

namespace ingot {

struct HfAddress {
  std::string repository;  // "OWNER/NAME"
  std::string revision =
      "main";        // a branch, a tag, a commit, or "refs/convert/parquet", "refs/pr/1"
  std::string path;  // empty: the whole dataset, or the model
  bool is_model = false;
};
// Throws ErrorCode::Usage with the form that is expected.
HfAddress parse_hf_address(const std::string& address);
// hf://OWNER/NAME[@REVISION]; throws as that.
HfAddress parse_hf_model(const std::string& address);
std::string to_string(const HfAddress& address);

WebFile hf_file(const std::string& address, const RemoteSettings& remote);
WebFile hf_file(const HfAddress& file, const RemoteSettings& remote);
// The files in the hub's answer to a request for the list of `folder`, named by their paths in the
// dataset. Throws ErrorCode::Data for anything else.
std::vector<InputFile> parse_hf_list(std::string_view answer, const HfAddress& folder);
// Where the list goes on: of a Link header «<URL>; rel="next"»; empty where there is none.
std::string hf_next_page(const std::string& link);
bool is_commit(std::string_view revision);  // 40 hexadecimal digits
// The commit in the hub's answer about a revision; the revision itself where it does not tell.
std::string parse_hf_commit(std::string_view answer, const std::string& revision);
// The commit that `address.revision` is now, as that.
std::string hf_commit(const HfAddress& address, const RemoteSettings& remote);
// All files below the folder `address`.
std::vector<InputFile> list_hf_folder(const HfAddress& address, const RemoteSettings& remote);

}  // namespace ingot
