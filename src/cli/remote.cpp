#include "cli/remote.h"

#include "cli/start/launched.h"
#include "cli/start/machine.h"
#include "core/storage/storage.h"

namespace ingot::cli {

RemoteOptions::RemoteOptions() {
  if (const std::string folder = default_cache_dir(); !folder.empty()) {
    cache_folder = join_path(folder, "files");
  }
}

void RemoteOptions::add_to(Command& command) {
  command
      .add_option("--cache", cache_folder,
                  "folder that caches files from http(s):// and hf://; \"\" caches none")
      ->capture_default_str();
}

RemoteSettings RemoteOptions::settings() const {
  return remote_settings(environment(), cache_folder);
}

}  // namespace ingot::cli
