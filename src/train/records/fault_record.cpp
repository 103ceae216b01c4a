#include "train/records/fault_record.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/error/log.h"
#include "ledger/records/run_ledger.h"

namespace ingot {
namespace {

// Ranks of other machines append too. Where the file system does not keep appends apart by itself
// (NFS) the lock does; a rank that cannot have it soon writes all the same.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kPause{10};

constexpr std::chrono::milliseconds kLook{100};  // between two questions of a LossWatch

std::unique_ptr<StorageLock> lock_soon(Storage& storage, const std::string& path) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (auto lock = storage.try_lock(path, 0)) return lock;
    std::this_thread::sleep_for(kPause);
  }
  return nullptr;
}

}  // namespace

FaultRecord::FaultRecord(std::shared_ptr<Storage> storage, std::string run_dir,
                         const Process& process)
    : storage_(std::move(storage)), dir_(std::move(run_dir)), process_(process) {}

void FaultRecord::write(const LostRank& lost, const Watch& watch) noexcept {
  try {
    std::call_once(written_, [&] {
      FaultReport fault{.rank = process_.rank,
                        .step = watch.step(),
                        .lost = lost.rank,
                        .why = lost.why,
                        .in = watch.state(),
                        .last = watch.last_records()};
      if (!process_.host.empty()) fault.host = process_.host;
      const nlohmann::json line = to_json({head_now(std::nullopt), fault});
      append(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    });
  } catch (const std::exception& error) {
    log::error("fault_not_recorded", {{"rank", std::to_string(process_.rank)},
                                      {"lost", std::to_string(lost.rank)},
                                      {"why", error.what()}});
  }
}

LossWatch::LossWatch(World& world, FaultRecord& faults) {
  if (world.size() == 1) return;
  thread_ = std::thread([this, &world, &faults] {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [this] { return done_; }))
      if (const auto lost = world.loss()) return faults.write(*lost, world.watch());
  });
}

LossWatch::~LossWatch() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FaultRecord::append(const std::string& line) {
  if (!storage_->exists(dir_)) return;
  const std::string path = join_path(dir_, kFaultsName);
  const auto lock = lock_soon(*storage_, path);
  const auto file = storage_->open_append(path);
  file->append(std::as_bytes(std::span(line)));
  file->sync();
}

}  // namespace ingot
