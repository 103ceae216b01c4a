// hf://datasets/OWNER/NAME[@REVISION]/PATH: dataset files of the Hugging Face hub; without
// datasets/ model files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/fetch.h"

namespace ingot {

// A file of the hub.
struct HubFile {
  std::string address;
  std::string path;    // in its repository
  int64_t bytes = -1;  // -1: the hub does not say
};

struct HfAddress {
  std::string repository;  // "OWNER/NAME"
  std::string revision =
      "main";        // a branch, a tag, a commit, or "refs/convert/parquet", "refs/pr/1"
  std::string path;  // empty: the whole dataset or model
  bool is_model = false;
};
// Throws ErrorCode::Usage with the expected form.
HfAddress parse_hf_address(const std::string& address);
// hf://OWNER/NAME[@REVISION]; throws likewise.
HfAddress parse_hf_model(const std::string& address);
std::string to_string(const HfAddress& address);

WebFile hf_file(const std::string& address, const RemoteSettings& remote);
WebFile hf_file(const HfAddress& file, const RemoteSettings& remote);
// Parses the hub's list of `folder`. Throws ErrorCode::Data if it is not such a list.
std::vector<HubFile> parse_hf_list(std::string_view answer, const HfAddress& folder);
// The next page of the list, from a Link header «<URL>; rel="next"»; empty if there is none.
std::string hf_next_page(const std::string& link);
bool is_commit(std::string_view revision);  // 40 hexadecimal digits
// The commit in the hub's answer about a revision; the revision itself if the answer has none.
std::string parse_hf_commit(std::string_view answer, const std::string& revision);
// The current commit of `address.revision`.
std::string hf_commit(const HfAddress& address, const RemoteSettings& remote);
// All files below the folder `address`.
std::vector<HubFile> list_hf_folder(const HfAddress& address, const RemoteSettings& remote);

}  // namespace ingot
