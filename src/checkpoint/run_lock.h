// One process at a time writes to a run folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// Two files in the folder: `.lock`, which the operating system keeps locked for as long as the
// owner's process lives, and `owner.json`, which says who that is. An owner that was killed on this
// machine is known to be gone at once. File systems that hosts share may not carry locks between
// them: the owner therefore renews `owner.json`, and who finds another host's waits to see whether
// it is renewed. No clocks are compared.
class RunLock {
 public:
  struct Times {
    std::chrono::milliseconds renewal{10'000};
    std::chrono::milliseconds lease{60'000};  // without a renewal for so long, the owner is gone
  };

  // Takes `dir`, which exists. Throws ErrorCode::Storage with the owner's host, process and start
  // when there is one.
  RunLock(std::shared_ptr<Storage> storage, std::string dir, Times times);
  RunLock(std::shared_ptr<Storage> storage, std::string dir)
      : RunLock(std::move(storage), std::move(dir), Times()) {}
  ~RunLock();  // lets go

  // Throws ErrorCode::Storage when the last renewal found the folder removed or taken over by
  // another process. Costs a load.
  void check_held() const;
  // The same by looking now.
  void check_held_now();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
