#include "checkpoint/new_output.h"

#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "core/error/error.h"

namespace ingot {
namespace {

constexpr std::string_view kLockName = ".lock";

// For a message.
std::string what_is_in(Storage& storage, const std::string& dir) {
  const std::string path = join_path(dir, kManifestName);
  if (!storage.exists(path)) return "something that is no checkpoint";
  try {
    const Manifest manifest = parse_manifest(read_text(storage, path), path);
    if (!manifest.has_optimizer)
      return fmt::format("a model that was imported from {}", manifest.origin.path);
    return fmt::format("a checkpoint of step {}, {} tokens", manifest.state.step,
                       manifest.state.tokens);
  } catch (const Error&) {
    return "a damaged checkpoint";
  }
}

// Of one that writes `name` under `path`. Null where the file system has no locks: as safe then as
// one process at a time is.
std::unique_ptr<StorageLock> lock_for(Storage& storage, const std::string& path,
                                      const std::string& name) {
  std::unique_ptr<StorageLock> lock;
  try {
    lock = storage.try_lock(path, 0);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Storage) return nullptr;
    throw;
  }
  check(lock != nullptr, ErrorCode::Usage,
        "'{}' is being written by another process: wait for it, or choose another name", name);
  return lock;
}

void remove_quietly(Storage& storage, const std::string& path) noexcept {
  try {
    if (storage.exists(path)) storage.remove(path);
  } catch (const std::exception&) {
    // The failure that led here is the one to report.
  }
}

std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

void check_new_folder(Storage& storage, const std::string& dir) {
  if (storage.exists(dir) && !storage.list(dir).empty())
    throw Error(ErrorCode::Usage,
                fmt::format("'{}' already holds {}: choose another folder, or remove it first", dir,
                            what_is_in(storage, dir)));
}

NewFolder::NewFolder(Storage& storage, const std::string& dir)
    : storage_(storage), dir_(without_end_slashes(dir)), path_(temporary_path(dir_)) {
  check_new_folder(storage_, dir_);
  storage_.make_directories(path_);
  lock_ = lock_for(storage_, join_path(path_, kLockName), dir_);
  for (const std::string& name : storage_.list(path_))
    if (name != kLockName) storage_.remove(join_path(path_, name));
}

NewFolder::~NewFolder() {
  if (!published_) remove_quietly(storage_, path_);
}

void NewFolder::publish() {
  storage_.sync_directory(path_);
  check_new_folder(storage_, dir_);
  // With the lock in it: whoever comes now finds the folder taken or gone, never free to empty.
  storage_.rename(path_, dir_);
  published_ = true;
  remove_quietly(storage_, join_path(dir_, kLockName));
  lock_.reset();
  storage_.sync_directory(parent_path(dir_));
}

NewFile::NewFile(Storage& storage, const std::string& name, Existing existing)
    : storage_(storage),
      name_(name),
      path_(is_pipe_or_device(name) ? name : name + ".part"),
      existing_(existing) {
  if (path_ == name_) return;
  check_name();
  lock_ = lock_for(storage_, path_, name_);
}

NewFile::~NewFile() {
  if (!published_ && path_ != name_) remove_quietly(storage_, path_);
}

void NewFile::check_name() const {
  check(existing_ == Existing::Replaced || !storage_.exists(name_), ErrorCode::Usage,
        "'{}' exists: choose another name, or replace it with --force", name_);
}

void NewFile::publish() {
  if (path_ == name_) return;
  check_name();
  storage_.rename(path_, name_);
  published_ = true;
  lock_.reset();
  storage_.sync_directory(parent_path(name_));
}

}  // namespace ingot
