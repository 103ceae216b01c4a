#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/error/error.h"
#include "core/storage/storage.h"

namespace ingot {
namespace {

using Bytes = std::vector<std::byte>;

// "./a//b/" and "a/b" are one file.
std::string normal(const std::string& path) {
  std::string out = path.starts_with('/') ? "/" : "";
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") out = join_path(out, part);
    at = end + 1;
  }
  return out.empty() ? "." : out;
}

[[noreturn]] void missing(const std::string& path) {
  throw Error(ErrorCode::Data, fmt::format("'{}' does not exist; check the path", path));
}

// A file is replaced, never rewound, by create(): readers of the old one keep it.
struct Files {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Bytes>> files;
  std::set<std::string> directories{".", "/"};
  std::set<std::pair<std::string, int64_t>> locks;

  bool is_directory(const std::string& path) const { return directories.contains(path); }
  void require_parent(const std::string& path) const {
    if (!is_directory(normal(parent_path(path)))) missing(parent_path(path));
  }
};

class MemoryWriter : public WritableFile {
 public:
  MemoryWriter(std::shared_ptr<Files> files, std::shared_ptr<Bytes> bytes)
      : files_(std::move(files)), bytes_(std::move(bytes)) {}
  void append(std::span<const std::byte> bytes) override {
    const std::lock_guard lock(files_->mutex);
    bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
  }
  void sync() override {}
  void close() override {}

 private:
  std::shared_ptr<Files> files_;
  std::shared_ptr<Bytes> bytes_;
};

class MemoryReader : public ReadableFile {
 public:
  MemoryReader(std::shared_ptr<Files> files, std::shared_ptr<Bytes> bytes, std::string path)
      : files_(std::move(files)), bytes_(std::move(bytes)), path_(std::move(path)) {}
  int64_t size() const override {
    const std::lock_guard lock(files_->mutex);
    return static_cast<int64_t>(bytes_->size());
  }
  void read(int64_t offset, std::span<std::byte> into) const override {
    const std::lock_guard lock(files_->mutex);
    const auto size = static_cast<int64_t>(bytes_->size());
    const auto wanted = static_cast<int64_t>(into.size());
    check(offset >= 0 && wanted <= size - offset, ErrorCode::Data,
          "'{}' is too short: expected {} bytes at {}, the file ends at {}", path_, wanted, offset,
          size);
    std::copy_n(bytes_->begin() + offset, wanted, into.begin());
  }

 private:
  std::shared_ptr<Files> files_;
  std::shared_ptr<Bytes> bytes_;
  std::string path_;
};

class MemoryLock : public StorageLock {
 public:
  MemoryLock(std::shared_ptr<Files> files, std::pair<std::string, int64_t> place)
      : files_(std::move(files)), place_(std::move(place)) {}
  ~MemoryLock() override {
    const std::lock_guard lock(files_->mutex);
    files_->locks.erase(place_);
  }

 private:
  std::shared_ptr<Files> files_;
  std::pair<std::string, int64_t> place_;
};

class MemoryStorage : public Storage {
 public:
  std::unique_ptr<WritableFile> create(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    auto& file = entry(path);
    file = std::make_shared<Bytes>();
    return std::make_unique<MemoryWriter>(all_, file);
  }

  std::unique_ptr<WritableFile> open_append(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    auto& file = entry(path);
    if (!file) file = std::make_shared<Bytes>();
    return std::make_unique<MemoryWriter>(all_, file);
  }

  std::unique_ptr<ReadableFile> open(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    return std::make_unique<MemoryReader>(all_, existing(path), path);
  }

  bool exists(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    const std::string name = normal(path);
    return all_->files.contains(name) || all_->is_directory(name);
  }

  std::vector<std::string> list(const std::string& directory) override {
    const std::lock_guard lock(all_->mutex);
    const std::string parent = normal(directory);
    if (!all_->is_directory(parent)) missing(directory);
    std::set<std::string> names;
    const auto add = [&](const std::string& path) {
      if (path != parent && normal(parent_path(path)) == parent) names.insert(file_name(path));
    };
    for (const auto& [path, bytes] : all_->files) add(path);
    for (const std::string& path : all_->directories) add(path);
    if (parent == ".") names.erase("/");
    return {names.begin(), names.end()};
  }

  void make_directories(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    for (std::string name = normal(path); !all_->is_directory(name);
         name = normal(parent_path(name))) {
      check(!all_->files.contains(name), ErrorCode::Data,
            "cannot make the folder '{}': a file has that name; choose another", name);
      all_->directories.insert(name);
    }
  }

  void rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(all_->mutex);
    const std::string source = normal(from);
    const std::string target = normal(to);
    all_->require_parent(target);
    if (all_->is_directory(source)) {
      move_directory(source, target);
      return;
    }
    const auto file = existing(from);
    check(!all_->is_directory(target), ErrorCode::Storage,
          "cannot rename to '{}': a folder has that name; remove it", to);
    all_->files.erase(source);
    all_->files[target] = file;
  }

  void remove(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    const std::string name = normal(path);
    if (!all_->is_directory(name) && !all_->files.contains(name)) missing(path);
    const std::string inside = name + "/";
    const auto doomed = [&](const std::string& other) {
      return other == name || other.starts_with(inside);
    };
    std::erase_if(all_->files, [&](const auto& file) { return doomed(file.first); });
    std::erase_if(all_->directories, doomed);
  }

  void truncate(const std::string& path, int64_t size) override {
    const std::lock_guard lock(all_->mutex);
    existing(path)->resize(static_cast<size_t>(size));
  }

  void sync_directory(const std::string& path) override {
    const std::lock_guard lock(all_->mutex);
    if (!all_->is_directory(normal(path))) missing(path);
  }

  std::unique_ptr<StorageLock> try_lock(const std::string& path, int64_t number) override {
    const std::lock_guard lock(all_->mutex);
    if (auto& file = entry(path); !file) file = std::make_shared<Bytes>();
    const std::pair<std::string, int64_t> place(normal(path), number);
    if (!all_->locks.insert(place).second) return nullptr;
    return std::make_unique<MemoryLock>(all_, place);
  }

 private:
  // Called with the mutex held, as are all below.
  std::shared_ptr<Bytes>& entry(const std::string& path) {
    const std::string name = normal(path);
    all_->require_parent(name);
    check(!all_->is_directory(name), ErrorCode::Data,
          "cannot write '{}': it is a folder; check the path", path);
    return all_->files[name];
  }

  const std::shared_ptr<Bytes>& existing(const std::string& path) const {
    const auto found = all_->files.find(normal(path));
    if (found == all_->files.end()) missing(path);
    return found->second;
  }

  void move_directory(const std::string& source, const std::string& target) {
    const auto inside = [](const std::string& path, const std::string& folder) {
      return path.starts_with(folder + "/");
    };
    const auto taken = [&](const auto& path) { return inside(path, target); };
    bool occupied = all_->files.contains(target);
    for (const auto& [path, bytes] : all_->files) occupied |= taken(path);
    for (const std::string& path : all_->directories) occupied |= taken(path);
    check(!occupied, ErrorCode::Storage,
          "cannot rename to '{}': it exists and is not empty; remove it", target);

    std::map<std::string, std::shared_ptr<Bytes>> files;
    for (const auto& [path, bytes] : all_->files) {
      files[inside(path, source) ? target + path.substr(source.size()) : path] = bytes;
    }
    std::set<std::string> directories{target};
    for (const std::string& path : all_->directories) {
      if (path == source) continue;
      directories.insert(inside(path, source) ? target + path.substr(source.size()) : path);
    }
    all_->files = std::move(files);
    all_->directories = std::move(directories);
  }

  std::shared_ptr<Files> all_ = std::make_shared<Files>();
};

}  // namespace

std::shared_ptr<Storage> memory_storage() {
  return std::make_shared<MemoryStorage>();
}

}  // namespace ingot
