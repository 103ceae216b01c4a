// How a command reaches files that are not on this machine.
#pragma once

#include <string>

#include "cli/frame/command_line.h"
#include "ingest/read/document_reader.h"

namespace ingot::cli {

// --cache, and from the environment HF_TOKEN and HF_ENDPOINT, AWS_ENDPOINT_URL and AWS_REGION. S3
// is asked without credentials where the environment has none (AWS_ACCESS_KEY_ID, AWS_PROFILE, …).
struct RemoteOptions {
  std::string cache_folder;  // "files" in default_cache_dir()

  RemoteOptions();
  void add_to(Command& command);
  RemoteSettings settings() const;
};

}  // namespace ingot::cli
