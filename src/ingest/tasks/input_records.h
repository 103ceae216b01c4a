// What the inputs of a stage held when its tasks read them, so that a stage is not taken for done
// when they hold something else by now.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "ingest/read/document_reader.h"
#include "ledger/task_folder.h"

namespace ingot {

// Member "inputs" of a task's record: of its files, in their order.
nlohmann::json to_json(const std::vector<InputContent>& contents);
// Throws nlohmann's exceptions.
std::vector<InputContent> input_contents_of(const nlohmann::json& json);

// Whether both are known, and not of the same bytes.
bool differ(const InputContent& a, const InputContent& b);

// Whether the file is known to hold something else than `was`; a local file is read for that.
bool has_changed(const InputFile& file, const InputContent& was, const RemoteSettings& remote);

// For an input that is not what the work in `folder` began with.
Error changed_input(const std::string& location, const std::string& folder);

// The hashes lie in the records of tasks. Beside a record, FOLDER/tasks/00012.stamp keeps size,
// modification time and inode of the files: where these are as they were, nothing is read. A stamp
// may be lost at any time; one of a file that was modified just before is not kept, as the next
// change might have the same time.
class InputRecords {
 public:
  // `files`: of each task.
  InputRecords(std::shared_ptr<Storage> storage, std::string folder,
               std::vector<std::vector<InputFile>> files, RemoteSettings remote);

  // Compares what this process' finished tasks have read, `threads` of them at a time. Throws
  // ErrorCode::Config naming the first file that holds something else by now. What cannot be
  // compared passes, and is said: tasks of an older program, which kept no hashes; remote files
  // whose server names no version.
  void check(const TaskFolder& tasks, ProcessShare share, int64_t threads) const;

  // `work`, with the stamps of the task's files kept.
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
  RemoteSettings remote_;
};

}  // namespace ingot
