// What an import or an export makes: whole or not at all, by one process at a time, over nothing
// that is there.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// ErrorCode::Usage, saying what is there, unless `dir` is new or empty.
void check_new_folder(Storage& storage, const std::string& dir);

class NewFolder {
 public:
  // Throws as check_new_folder(), and ErrorCode::Usage where another process is writing `dir`. What
  // a process that was killed left of it is removed.
  NewFolder(Storage& storage, const std::string& dir);
  ~NewFolder();  // nothing stays of what was not published
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& path() const { return path_; }  // to write into: hidden, beside `dir`
  void publish();                                    // it is `dir`, durably

 private:
  Storage& storage_;
  std::string dir_, path_;
  std::unique_ptr<StorageLock> lock_;
  bool published_ = false;
};

class NewFile {
 public:
  enum class Existing { Refused, Replaced };

  // A pipe or device is written as it is. Throws ErrorCode::Usage where another process is writing
  // it, and for a file that is refused.
  NewFile(Storage& storage, const std::string& name, Existing existing);
  ~NewFile();  // as NewFolder's
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }  // to create: NAME.part, or a pipe's name
  void publish();

 private:
  void check_name() const;

  Storage& storage_;
  std::string name_, path_;
  Existing existing_;
  std::unique_ptr<StorageLock> lock_;
  bool published_ = false;
};

}  // namespace ingot
