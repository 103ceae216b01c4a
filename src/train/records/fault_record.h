// The record of a lost rank, which each remaining rank writes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/storage/storage.h"
#include "parallel/comm/world.h"

namespace ingot {

inline constexpr std::string_view kFaultsName = "faults.jsonl";  // in the run folder

// One rank's. Appends one line of JSON, a FaultReport, with one write. Thread-safe.
class FaultRecord {
 public:
  FaultRecord(std::shared_ptr<Storage> storage, std::string run_dir, const Process& process);

  // Writes the first loss at once and ignores later ones, which follow from it. Does nothing while
  // the run has no folder. Logs its own failures instead of throwing: the caller has a worse error
  // to report.
  void write(const LostRank& lost, const Watch& watch) noexcept;

 private:
  void append(const std::string& line);

  const std::shared_ptr<Storage> storage_;
  const std::string dir_;
  const Process process_;
  std::once_flag written_;
};

// While it lives, a thread of its own writes a loss as soon as the world learns of it, even while
// the rank computes: a launcher may not leave the rank time to end its step. One rank alone has no
// such thread.
class LossWatch {
 public:
  LossWatch(World& world, FaultRecord& faults);
  ~LossWatch();
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace ingot
