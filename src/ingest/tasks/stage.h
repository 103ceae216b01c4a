// What the stages of data preparation have in common: a task for each input file, an output file
// of the same name, a report when the last task is done.
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
#include "ingest/read/document_reader.h"
#include "ingest/tasks/input_records.h"
#include "ledger/task_folder.h"

namespace ingot {

// Told how far a stage is; called from any thread.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void on_tasks(std::string_view /*step*/, int64_t /*done*/, int64_t /*of*/) {}
  virtual void on_documents(int64_t /*documents*/, int64_t /*text_bytes*/) {}  // more of them
  virtual void on_waiting(std::string_view /*step*/, int64_t /*tasks_of_others*/) {}
};

struct StageInputs {
  std::vector<InputFile> files;
  ReadSettings read;
};

// Who does it, and where. Nothing here changes what comes out.
struct StageRun {
  std::shared_ptr<Storage> storage;
  std::string folder;
  ProcessShare share;
  int64_t threads = 1;
  StageObserver* observer = nullptr;  // not null
};

// The inputs as part of a stage's description: names and sizes, not where they lie.
nlohmann::json describe(const StageInputs& inputs);

// For each input the name of its output without ending: «2024/a» for 2024/a.jsonl.gz, or the whole
// name where two would be the same.
std::vector<std::string> output_names(const std::vector<InputFile>& files);

// Creates the folders that FOLDER/<name>.jsonl.zst is in and gives that path.
std::string output_path(Storage& storage, const std::string& folder, const std::string& name);

// Of the tasks in `folder`, one for each file.
InputRecords input_records(const StageInputs& inputs, const StageRun& run,
                           const std::string& folder);

nlohmann::json to_json(const ReadCounts& counts);
ReadCounts read_counts_of(const nlohmann::json& json);
// {"empty": {"file": "a.jsonl", "record": 7}}
nlohmann::json to_json(const RecordPlaces& places);
RecordPlaces record_places_of(const nlohmann::json& json);  // throws nlohmann's exceptions
// " (the first: a.jsonl, record 7)"; empty where `places`, as to_json() has them, do not say.
std::string first_place(const nlohmann::json& places, const std::string& reason);

// Runs the tasks of this process with progress under the name `step`.
void run_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
               const TaskFolder::Work& work);

// As run_tasks, then helps others and waits until they are done with what they are at. Returns true
// when every task is finished, and false when `is_pointless` is true before that.
bool run_all_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
                   const TaskFolder::Work& work, const std::function<bool()>& is_pointless);

// The documents of an input file with progress: next() as DocumentReader's.
class ObservedReader {
 public:
  ObservedReader(const InputFile& file, const ReadSettings& settings, StageObserver& observer);
  ~ObservedReader();
  ObservedReader(const ObservedReader&) = delete;
  ObservedReader& operator=(const ObservedReader&) = delete;

  bool next(Document& document);
  const ReadCounts& counts() const { return reader_->counts(); }
  InputContent content() { return reader_->content(); }

 private:
  void report();

  std::unique_ptr<DocumentReader> reader_;
  StageObserver& observer_;
  int64_t reported_documents_ = 0, reported_bytes_ = 0;
};

}  // namespace ingot
