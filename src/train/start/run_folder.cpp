#include "train/start/run_folder.h"

#include "core/error/error.h"

namespace ingot {

void RunFolder::take() {
  if (storage_->exists(dir_)) lock_ = std::make_unique<RunLock>(storage_, dir_);
}

void RunFolder::begin(RunConfig config) {
  config.system.ranks = ranks_of_process_;
  const std::string path = join_path(dir_, kRunConfigName);
  if (!lock_) {
    storage_->make_directories(dir_);
    lock_ = std::make_unique<RunLock>(storage_, dir_);
    check(!storage_->exists(path), ErrorCode::Storage,
          "{}: another run began there at the same time; set checkpoint.dir to another folder",
          dir_);
  }
  write_file_atomically(*storage_, path, to_toml(config));
}

}  // namespace ingot
