// Reusable scratch memory for concurrent calls.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ingot {

// Holds as many workspaces as calls ran at the same time.
template <class Workspace>
class WorkspacePool {
 public:
  // A workspace for the duration of one call.
  class Lease {
   public:
    explicit Lease(WorkspacePool& pool) : pool_(pool) {
      {
        const std::lock_guard lock(pool.mutex_);
        if (!pool.idle_.empty()) {
          work_ = std::move(pool.idle_.back());
          pool.idle_.pop_back();
        }
      }
      if (!work_) work_ = std::make_unique<Workspace>();
    }
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(work_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Workspace& operator*() const { return *work_; }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> work_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace ingot
