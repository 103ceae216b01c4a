// Compares shards that were written without chunk hashes with their manifest while a run reads
// them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/storage/storage.h"
#include "shards/manifest.h"

namespace ingot {

// Reads the tokens and the document index of each shard once, in order, on its own thread, at most
// at kBytesPerSecond and without changing the page cache. Logs its start, its end, and, if
// destroyed before, how much was not compared. The destructor waits for at most one read.
class BackgroundCheck {
 public:
  static constexpr int64_t kBytesPerSecond = int64_t{256} << 20;

  BackgroundCheck(std::shared_ptr<Storage> storage, std::string folder,
                  std::vector<ShardFile> shards, int64_t token_bytes);
  ~BackgroundCheck();
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  // Throws the error that was found, if any. From any thread, at no cost.
  void rethrow() const {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  }
  void wait();  // for the end of the comparison or an error

 private:
  void work(const std::stop_token& stop);
  void compare(const std::string& name, int64_t size, uint64_t hash, const std::stop_token& stop);
  void pause(const std::stop_token& stop) const;

  std::shared_ptr<Storage> storage_;
  const std::string folder_;
  const std::vector<ShardFile> shards_;
  const int64_t token_bytes_;
  int64_t bytes_ = 0;  // of all files
  std::atomic<int64_t> done_{0};
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace ingot
