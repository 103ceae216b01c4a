// A stage of data preparation as numbered tasks. Any number of processes do them, and a killed
// stage resumes. A task's outputs depend only on its inputs and the settings, never on who does it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

// Process `index` of `count`. cli reads them from --process K/N, or from the environment of srun or
// mpirun.
struct ProcessShare {
  int64_t index = 0, count = 1;
};

// Layout:
//  - FOLDER/stage.json describes the stage: name, settings, inputs. It is written once, and every
//    process that joins compares its own description with it.
//  - FOLDER/tasks/00012.json is the record of a finished task. It is renamed into place after the
//    task's outputs. If it is lost or torn, the task is repeated.
//  - FOLDER/tasks/lock: a process locks a task's place in it while it works on the task, so no two
//    write the same outputs, not even if a killed launcher left processes behind. The lock of a
//    process that dies is released.
//  - FOLDER/tasks/00012.error says why the last attempt at a task failed.
class TaskFolder {
 public:
  // Creates the folder, or joins one that was begun. Throws ErrorCode::Config if it was begun with
  // another description, showing the first key that differs and both values. The number of
  // processes and threads is not part of the description: it may change from run to run.
  TaskFolder(std::shared_ptr<Storage> storage, std::string folder,
             const nlohmann::json& description, int64_t num_tasks);

  using Work = std::function<nlohmann::json(int64_t task)>;  // returns the task's record
  // Called after each task, by one thread at a time, with how many of this process' tasks are done.
  using Progress = std::function<void(int64_t done, int64_t of)>;
  // Does this process' tasks (task % count == index) that have no record yet, `threads` at a time,
  // and waits for those that another process is working on. After the first error it starts no new
  // tasks and throws that error. `progress` may be empty.
  void run(ProcessShare share, int64_t threads, const Work& work, const Progress& progress);
  // Does other processes' unfinished tasks that nobody is working on: their processes may have
  // died, or not have begun them yet. Returns how many it did. Throws ErrorCode::Data if another
  // process failed at one since this folder was opened: it would fail here too.
  int64_t help(int64_t threads, const Work& work);

  int64_t num_tasks() const { return num_tasks_; }
  bool has_record(int64_t task) const;  // whether it is finished
  // Checks only tasks that were not finished at the last call.
  int64_t num_finished();
  bool finished() { return num_finished() == num_tasks_; }
  nlohmann::json record(int64_t task) const;  // throws ErrorCode::Data if it is not finished
  // A lock for the work after the last task; waits while another process has it.
  std::unique_ptr<StorageLock> lock_end() const;
  // Calls read(record). If that throws MemberError, because the record is not of its kind, this
  // throws ErrorCode::Data with the record's path. For task_records.h.
  void read_record(int64_t task, const std::function<void(const nlohmann::json&)>& read) const;

 private:
  // Does those of `tasks` that are unfinished and that nobody works on; returns how many.
  int64_t run_free(const std::vector<int64_t>& tasks, int64_t threads, const Work& work,
                   const std::function<void()>& on_done);
  void run_one(int64_t task, const Work& work);
  std::unique_ptr<StorageLock> try_lock(int64_t place) const;
  std::string read_error(const std::string& name) const;  // empty: none
  void note_error(int64_t task, const char* message) const;
  std::string path_of(int64_t task, std::string_view ending) const;

  std::shared_ptr<Storage> storage_;
  std::string folder_;
  int64_t num_tasks_;
  std::vector<bool> known_finished_;
  std::map<std::string, std::string> old_errors_;  // by file, from before this folder was opened
};

// Like write_file_atomically(), for a file that several processes may write at once with the same
// contents: each writes to its own temporary name.
void publish_file(Storage& storage, const std::string& path, std::string_view contents);

}  // namespace ingot
