// The output of an import or an export. It appears complete or not at all, only one process writes
// it, and it overwrites nothing.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// Throws ErrorCode::Usage, saying what is there, unless `dir` is new or empty.
void check_new_folder(Storage& storage, const std::string& dir);

class NewFolder {
 public:
  // Throws like check_new_folder(), and ErrorCode::Usage if another process is writing `dir`.
  // Removes what a killed process left of it.
  NewFolder(Storage& storage, const std::string& dir);
  ~NewFolder();  // removes the folder unless it was published
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::string& path() const { return path_; }  // write into this hidden folder beside `dir`
  void publish();                                    // renames it to `dir`, durably

 private:
  Storage& storage_;
  std::string dir_, path_;
  std::unique_ptr<StorageLock> lock_;
  bool published_ = false;
};

class NewFile {
 public:
  enum class Existing { Refused, Replaced };

  // A pipe or device is written directly. Throws ErrorCode::Usage if another process is writing the
  // file, and for an existing file under Existing::Refused.
  NewFile(Storage& storage, const std::string& name, Existing existing);
  ~NewFile();  // removes the file unless it was published
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }  // create this: NAME.part, or the pipe
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
