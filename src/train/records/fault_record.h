// Who was lost, as each rank that is left writes it down.
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

// One rank's. Each appends one line of JSON, a FaultReport, with one write. Thread-safe.
class FaultRecord {
 public:
  FaultRecord(std::shared_ptr<Storage> storage, std::string run_dir, const Process& process);

  // The first loss is written at once, the rest nowhere: they follow from it. Nothing where the run
  // has no folder yet. What fails is logged, not thrown: whoever calls this has something worse to
  // report.
  void write(const LostRank& lost, const Watch& watch) noexcept;

 private:
  void append(const std::string& line);

  const std::shared_ptr<Storage> storage_;
  const std::string dir_;
  const Process process_;
  std::once_flag written_;
};

// While it lives a loss that the world learns of is written at once, also while the rank computes:
// a launcher may not leave it the time to end its step. On a thread of its own, but for one rank.
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
