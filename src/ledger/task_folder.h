// A stage of data preparation as numbered tasks, done by any number of processes and resumed after
// a kill. A task's outputs depend on its inputs and the settings alone, never on who does it.
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

// Which process this is, of how many. cli reads it from --process K/N, or from the environment of
// srun or mpirun.
struct ProcessShare {
  int64_t index = 0, count = 1;
};

// Layout: FOLDER/stage.json says what the stage is (name, settings, inputs; written once, compared
// by everyone who joins), FOLDER/tasks/00012.json is the record of a finished task, renamed into
// place after its outputs. A record that is lost or torn counts as none: its task is repeated.
// Whoever is at a task holds its place in FOLDER/tasks/lock, so no two write the same outputs, not
// even where a killed launcher left processes behind; a process that dies lets go of it.
// FOLDER/tasks/00012.error says why the last attempt at a task failed.
class TaskFolder {
 public:
  // Creates the folder, or joins one that was begun. Throws ErrorCode::Config where it was begun
  // with another description, showing the first key that differs and both values. How many
  // processes or threads take part is no part of it: their number may change from run to run.
  TaskFolder(std::shared_ptr<Storage> storage, std::string folder,
             const nlohmann::json& description, int64_t num_tasks);

  using Work = std::function<nlohmann::json(int64_t task)>;  // returns the task's record
  // Called as tasks are finished, by one at a time, with how many of this process' tasks are done.
  using Progress = std::function<void(int64_t done, int64_t of)>;
  // Does this process' tasks (task % count == index) that have no record yet, `threads` at a time,
  // and waits for those that another process is at; the first error stops the taking of new ones
  // and is thrown. `progress` may be empty.
  void run(ProcessShare share, int64_t threads, const Work& work, const Progress& progress);
  // Does what is left of others' tasks and nobody is at: they may have died, or not come to it yet.
  // Returns how many it did. Throws ErrorCode::Data where another process failed at one since this
  // folder was opened: what fails there fails here.
  int64_t help(int64_t threads, const Work& work);

  int64_t num_tasks() const { return num_tasks_; }
  bool has_record(int64_t task) const;  // whether it is finished
  // Looks again only for tasks that were not finished before.
  int64_t num_finished();
  bool finished() { return num_finished() == num_tasks_; }
  nlohmann::json record(int64_t task) const;  // of a finished task; ErrorCode::Data where it is not
  // For what comes after the last task; waits while another process is at that.
  std::unique_ptr<StorageLock> lock_end() const;
  // Calls read(record), which throws MemberError for a record that is not of its kind: that becomes
  // ErrorCode::Data with the record's path. task_records.h reads them so.
  void read_record(int64_t task, const std::function<void(const nlohmann::json&)>& read) const;

 private:
  // Those that were still to be done and that nobody was at, `threads` at a time; how many.
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
  std::map<std::string, std::string> old_errors_;  // by file: of attempts before this one's
};

// As write_file_atomically, for files that several processes may write at once, all with the same
// contents: each writes aside under a name of its own.
void publish_file(Storage& storage, const std::string& path, std::string_view contents);

}  // namespace ingot
