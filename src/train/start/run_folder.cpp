#include "train/start/run_folder.h"

#include "core/error/error.h"
#include "spec/run/run_id.h"
#include "spec/run/run_length.h"

namespace ingot {

void RunFolder::take() {
  if (storage_->exists(dir_)) lock_ = std::make_unique<RunLock>(storage_, dir_);
}

std::string RunFolder::id_of_resumed_run(const std::string& saved) const {
  const std::string path = join_path(dir_, kRunConfigName);
  std::string id;
  if (storage_->exists(path)) id = run_id_of(read_text(*storage_, path), path);
  if (id.empty()) id = saved;
  return id.empty() ? draw_run_id() : id;
}

void RunFolder::begin(RunConfig config, const std::string& run_id) {
  // A step stays as large as it is, by whatever ranks a resume computes it.
  config.batch.tokens = full_batch_tokens(config);
  config.system.ranks = ranks_of_process_;
  const std::string path = join_path(dir_, kRunConfigName);
  if (!lock_) {
    storage_->make_directories(dir_);
    lock_ = std::make_unique<RunLock>(storage_, dir_);
    check(!storage_->exists(path), ErrorCode::Storage,
          "{}: another run began there at the same time; set checkpoint.dir to another folder",
          dir_);
  }
  write_file_atomically(*storage_, path, to_toml(config, run_id));
}

}  // namespace ingot
