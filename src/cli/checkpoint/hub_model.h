// A model of the Hugging Face hub as a folder on this machine.
#pragma once

#include <string>

#include "cli/remote.h"
#include "ingest/read/remote/hf_address.h"

namespace ingot::cli {

struct FetchedModel {
  std::string folder;   // in the cache, of links to files that are there
  std::string address;  // with the commit that the revision meant
};

// What is not in the cache yet is fetched, how far it is shown. Throws ErrorCode::Data for a
// repository whose files say that it cannot be imported, before its weights are fetched.
FetchedModel fetch_model(HfAddress model, const RemoteSettings& remote);

}  // namespace ingot::cli
