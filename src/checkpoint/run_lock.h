// One process at a time writes to a run folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// Uses two files in the folder. The operating system keeps `.lock` locked while the owner's process
// lives; `owner.json` says who the owner is. On the same machine a killed owner is noticed at once.
// Shared file systems may not pass locks between hosts. Therefore the owner renews `owner.json`,
// and a process that finds another host's file waits to see whether it is renewed. No clocks are
// compared.
class RunLock {
 public:
  struct Times {
    std::chrono::milliseconds renewal{10'000};
    std::chrono::milliseconds lease{60'000};  // an owner that did not renew for so long is gone
  };

  // Locks `dir`, which must exist. If it has an owner, throws ErrorCode::Storage with the owner's
  // host, process and start.
  RunLock(std::shared_ptr<Storage> storage, std::string dir, Times times);
  RunLock(std::shared_ptr<Storage> storage, std::string dir)
      : RunLock(std::move(storage), std::move(dir), Times()) {}
  ~RunLock();  // unlocks

  // Throws ErrorCode::Storage if the last renewal found the folder removed or taken over by another
  // process. Costs one atomic load.
  void check_held() const;
  // The same, but looks at the folder now.
  void check_held_now();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
