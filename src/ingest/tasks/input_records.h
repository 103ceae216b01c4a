// Records the contents of a job's inputs when its work items read them, so that a job does not
// count as done if they have changed.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "ingest/read/document_reader.h"
#include "ledger/records/task_records.h"
#include "ledger/task_folder.h"

namespace ingot {

// In a work item's record: its files, in order.
std::vector<ContentRecord> records_of(const std::vector<InputContent>& contents);
std::vector<InputContent> contents_of(const std::vector<ContentRecord>& records);

// Whether both are known and their bytes differ.
bool differ(const InputContent& a, const InputContent& b);

// Whether the file is known to differ from `was`; reads a local file for that.
bool has_changed(const InputFile& file, const InputContent& was, const ReadSettings& read);

// The error for an input that has changed since the work in `folder` began.
Error changed_input(const std::string& location, const std::string& folder);

// The hashes are in the records of work items. Beside a record, FOLDER/tasks/00012.stamp stores
// size, modification time and inode of the files: if these are unchanged, nothing is read. A stamp
// may be deleted at any time. No stamp is written for a file that was modified just before, since a
// further change might have the same time.
class InputRecords {
 public:
  // `files`: of each work item.
  InputRecords(std::shared_ptr<Storage> storage, std::string folder,
               std::vector<std::vector<InputFile>> files, ReadSettings read);

  // Compares the inputs of this process's finished work items, `threads` at a time. Throws
  // ErrorCode::Config naming the first file that has changed. Inputs that cannot be compared pass,
  // with a message: work items of an older program, which stored no hashes; remote files whose
  // server names no version.
  void check(const TaskFolder& tasks, ProcessShare share, int64_t threads) const;

  // Wraps `work` so that it stores the stamps of the work item's files.
  TaskFolder::Work stamped(TaskFolder::Work work) const;

 private:
  enum class Outcome { Same, OfOlderProgram, NotComparable, Changed };
  Outcome compare(int64_t task, const TaskFolder& tasks, std::string& changed) const;

  struct Stamps;
  Stamps stamps_of(int64_t task) const;
  nlohmann::json kept_stamps(int64_t task) const;
  void keep(int64_t task, const Stamps& stamps) const;
  std::string path_of(int64_t task) const;
  const std::vector<InputFile>& files_of(int64_t task) const {
    return files_[static_cast<size_t>(task)];
  }

  std::shared_ptr<Storage> storage_;
  std::string folder_;
  std::vector<std::vector<InputFile>> files_;
  ReadSettings read_;
};

}  // namespace ingot
