// A storage that counts how often each file is opened to be read.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "support/forwarding_storage.h"

namespace ingot::test {

class CountingStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  std::unique_ptr<ReadableFile> open(const std::string& path) override {
    {
      const std::lock_guard lock(mutex_);
      ++opens_[path];
    }
    return ForwardingStorage::open(path);
  }
  int opens(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = opens_.find(path);
    return found == opens_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> opens_;
};

}  // namespace ingot::test
