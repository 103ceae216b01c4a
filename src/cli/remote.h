// --cache: the folder for files from other machines.
#pragma once

#include <string>

#include "cli/frame/command_line.h"
#include "remote/remote_settings.h"

namespace ingot::cli {

struct RemoteOptions {
  std::string cache_folder;  // "files" in default_cache_dir()

  RemoteOptions();
  void add_to(Command& command);
  RemoteSettings settings() const;  // with the environment's variables
};

}  // namespace ingot::cli
