// The file system behind an interface that tests can make fail. Paths are strings separated by '/'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// A file being written. Nothing is durable before sync() has returned.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual void append(std::span<const std::byte> bytes) = 0;
  virtual void sync() = 0;
  virtual void close() = 0;  // without sync; the destructor closes too and swallows errors
};

// Random access to a file that does not change while open.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual int64_t size() const = 0;
  // Fills `into` from `offset`; throws ErrorCode::Data if the file ends earlier.
  virtual void read(int64_t offset, std::span<std::byte> into) const = 0;
};

// A lock with one holder at a time. The destructor releases it, and so does any end of the process.
class StorageLock {
 public:
  virtual ~StorageLock() = default;
};

// All failures throw Error with code Storage (or Data if a file is missing or too short), naming
// the path and what to do. Implementations are thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::unique_ptr<WritableFile> create(const std::string& path) = 0;  // truncates
  virtual std::unique_ptr<WritableFile> open_append(const std::string& path) = 0;
  virtual std::unique_ptr<ReadableFile> open(const std::string& path) = 0;
  // The same for a large file that is read through once: its pages do not stay in the page cache,
  // where the system supports that. Pages cached before are used and stay.
  virtual std::unique_ptr<ReadableFile> open_once(const std::string& path) { return open(path); }
  virtual bool exists(const std::string& path) = 0;                         // file or directory
  virtual std::vector<std::string> list(const std::string& directory) = 0;  // names, sorted
  virtual void make_directories(const std::string& path) = 0;
  // Atomic replacement; durable after sync_directory() of the parent.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void remove(const std::string& path) = 0;  // a file, or a directory with its contents
  virtual void truncate(const std::string& path, int64_t size) = 0;
  virtual void sync_directory(const std::string& path) = 0;
  // Lock `number` of the lock file `path`. The file is created if missing and must not be removed
  // while anyone may lock it. Null if another thread, process or machine on the shared file system
  // holds the lock.
  virtual std::unique_ptr<StorageLock> try_lock(const std::string& path, int64_t number) = 0;
  // Bytes that can still be written at `path`, which need not exist; nothing if unknown.
  virtual std::optional<int64_t> free_bytes(const std::string& /*path*/) { return std::nullopt; }
};

std::shared_ptr<Storage> posix_storage();
std::shared_ptr<Storage> memory_storage();

// Passes calls on to `base` until the budget of mutating operations is used up. From then on every
// mutating call fails, and data appended but not synced is lost from `base`, as in a power cut.
// Directory entries survive, except that with `forget_unsynced_entries` a file created or renamed
// without sync_directory() of its parent may be reverted. Removing a folder counts one operation
// per entry, so a cut may leave half of it.
struct FaultPlan {
  int64_t operations_before_cut = -1;  // -1: never
  bool forget_unsynced_entries = false;
};
std::shared_ptr<Storage> faulty_storage(std::shared_ptr<Storage> base, FaultPlan plan);

// Whole-file helpers on top of Storage.
std::string read_text(Storage& storage, const std::string& path);
// The file appears complete or not at all: write a temporary file, sync, rename, sync the
// directory.
void write_file_atomically(Storage& storage, const std::string& path, std::string_view contents);
// Whether `path` is a pipe, a terminal or another device. Write into it directly; never replace it
// by a file.
bool is_pipe_or_device(const std::string& path);
std::string join_path(std::string_view directory, std::string_view name);
std::string parent_path(std::string_view path);  // "." for a bare name
std::string file_name(std::string_view path);    // the last component

}  // namespace ingot
