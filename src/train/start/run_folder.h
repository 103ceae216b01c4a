// The folder of a run, held by the one process that may write to it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/run_lock.h"
#include "core/storage/storage.h"
#include "spec/run/run_config.h"

namespace ingot {

inline constexpr std::string_view kRunConfigName = "run.toml";  // as the run was last started

class RunFolder {
 public:
  RunFolder(std::shared_ptr<Storage> storage, std::string dir)
      : storage_(std::move(storage)), dir_(std::move(dir)) {}

  // Locks `dir` if it exists, so that what is read there does not change. Throws as RunLock.
  void take();

  // Called once the run is accepted. Makes and locks the folder if there was none, and writes
  // run.toml: the settings that `ingot train --resume DIR` reads, the number of ranks that this
  // process hosts, and the run's id. Throws ErrorCode::Storage when another run began there since.
  void begin(RunConfig config, const std::string& run_id);
  // The id of the run that is resumed here: run.toml's, else its checkpoint's (`saved`), else a new
  // one, since older programs gave runs no id.
  std::string id_of_resumed_run(const std::string& saved) const;
  void set_ranks_of_process(int64_t ranks) { ranks_of_process_ = ranks; }

  // RunLock's, after begin().
  void check_held() const { lock_->check_held(); }
  void check_held_now() const { lock_->check_held_now(); }

 private:
  std::shared_ptr<Storage> storage_;
  std::string dir_;
  int64_t ranks_of_process_ = 1;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace ingot
