// Shared by all data jobs: a work item per input file, an output file of the same name, a report
// after the last work item.
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
#include "ledger/records/task_records.h"
#include "ledger/task_folder.h"

namespace ingot {

// Receives the progress of a job; called from any thread.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  virtual void on_tasks(std::string_view /*step*/, int64_t /*done*/, int64_t /*of*/) {}
  virtual void on_documents(int64_t /*documents*/, int64_t /*text_bytes*/) {}  // increments
  virtual void on_tokens(int64_t /*tokens*/) {}                                // increments
  // Stored bytes of the input read so far, of all that this process reads; -1: unknown.
  virtual void on_input(int64_t /*bytes_read*/, int64_t /*of*/) {}
  virtual void on_waiting(std::string_view /*step*/, int64_t /*tasks_of_others*/) {}
};

struct StageInputs {
  std::vector<InputFile> files;
  ReadSettings read;
};

// How a job is run. Nothing here affects its output.
struct StageRun {
  std::shared_ptr<Storage> storage;
  std::string folder;
  ProcessShare share;
  int64_t threads = 1;
  StageObserver* observer = nullptr;  // not null
};

// The inputs in a job's description: names and sizes, not locations.
nlohmann::json describe(const StageInputs& inputs);

// The output name of each input without extension: «2024/a» for 2024/a.jsonl.gz, or the whole name
// if two would be equal.
std::vector<std::string> output_names(const std::vector<InputFile>& files);

// Creates the folders of FOLDER/<name>.jsonl.zst and returns that path.
std::string output_path(Storage& storage, const std::string& folder, const std::string& name);

// For the work items in `folder`, one per file.
InputRecords input_records(const StageInputs& inputs, const StageRun& run,
                           const std::string& folder);

ReadRecord record_of(const ReadCounts& counts);
ReadCounts counts_of(const ReadRecord& record);
// {"empty": {"file": "a.jsonl", "record": 7}}
nlohmann::json to_json(const RecordPlaces& places);
Places places_of(const RecordPlaces& places);
RecordPlaces places_of(const Places& record);
// " (the first: a.jsonl, record 7)"; empty if `places`, in the form of to_json(), has none.
std::string first_place(const nlohmann::json& places, const std::string& reason);

// Members of a report: how many of `files` hold the same as an earlier one, by the records of
// finished work items, one per file.
nlohmann::json equal_files(const TaskFolder& tasks, const std::vector<InputFile>& files);

// Runs this process's work items with progress named `step`.
void run_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
               const TaskFolder::Work& work);

// As run_tasks, then helps other processes and waits until they have finished their current work
// items. Returns true when every work item is finished, and false if `is_pointless` becomes true
// before.
bool run_all_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
                   const TaskFolder::Work& work, const std::function<bool()>& is_pointless);

// The documents of an input file with progress; next() as DocumentReader's.
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
