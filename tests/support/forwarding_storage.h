// A storage that hands everything on to another; tests derive from it and break what they want.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/storage/storage.h"

namespace ingot::test {

class ForwardingStorage : public Storage {
 public:
  explicit ForwardingStorage(std::shared_ptr<Storage> base) : base_(std::move(base)) {}

  std::unique_ptr<WritableFile> create(const std::string& path) override {
    return base_->create(path);
  }
  std::unique_ptr<WritableFile> open_append(const std::string& path) override {
    return base_->open_append(path);
  }
  std::unique_ptr<ReadableFile> open(const std::string& path) override { return base_->open(path); }
  bool exists(const std::string& path) override { return base_->exists(path); }
  std::vector<std::string> list(const std::string& path) override { return base_->list(path); }
  void make_directories(const std::string& path) override { base_->make_directories(path); }
  void rename(const std::string& from, const std::string& to) override { base_->rename(from, to); }
  void remove(const std::string& path) override { base_->remove(path); }
  void truncate(const std::string& path, int64_t size) override { base_->truncate(path, size); }
  void sync_directory(const std::string& path) override { base_->sync_directory(path); }
  std::unique_ptr<StorageLock> try_lock(const std::string& path, int64_t number) override {
    return base_->try_lock(path, number);
  }
  std::optional<int64_t> free_bytes(const std::string& path) override {
    return base_->free_bytes(path);
  }

 protected:
  std::shared_ptr<Storage> base_;
};

}  // namespace ingot::test
