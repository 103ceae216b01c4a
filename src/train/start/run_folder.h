// The folder of a run, as the one process that may write to it has it.
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

  // Takes `dir` where it exists, so that what is then read there stays as it is. Throws as RunLock.
  void take();

  // The run is accepted: makes and takes the folder where there was none, and keeps the settings in
  // it, as `ingot train --resume DIR` reads them: with the ranks that one process is, and which run
  // it is. Throws ErrorCode::Storage when another run began there in between.
  void begin(RunConfig config, const std::string& run_id);
  // Of the run that goes on there: what its run.toml says, else its checkpoint (`saved`), else a
  // new one, for it is of an older program.
  std::string run_id_to_go_on(const std::string& saved) const;
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
