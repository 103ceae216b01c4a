#include "ingest/tasks/stage.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

#include "ingest/read/equal_inputs.h"

namespace ingot {
namespace {

using nlohmann::json;

// Often enough to look alive.
constexpr int64_t kReportBytes = int64_t{4} << 20;
constexpr auto kPollPause = std::chrono::milliseconds(100);

std::string_view without_ending(std::string_view name) {
  constexpr std::array<std::string_view, 2> kCompression = {".gz", ".zst"};
  constexpr std::array<std::string_view, 10> kKinds = {
      ".jsonl", ".json", ".ndjson", ".txt", ".md", ".csv", ".tsv", ".parquet", ".warc", ".text"};
  const auto cut = [&name](auto endings) {
    for (const std::string_view ending : endings) {
      if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
    }
    return name;
  };
  name = cut(kCompression);
  return cut(kKinds);
}

}  // namespace

json describe(const StageInputs& inputs) {
  json files = json::array();
  for (const InputFile& file : inputs.files) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}});
  }
  return {{"files", std::move(files)},
          {"source", inputs.read.source},
          {"text_field", inputs.read.text_field},
          {"id_field", inputs.read.id_field},
          {"url_field", inputs.read.url_field},
          {"keeps_crlf", inputs.read.keep_crlf},
          {"max_document_bytes", inputs.read.max_document_bytes}};
}

std::vector<std::string> output_names(const std::vector<InputFile>& files) {
  std::map<std::string, int64_t> uses;
  for (const InputFile& file : files) ++uses[std::string(without_ending(file.name))];
  std::vector<std::string> names;
  for (const InputFile& file : files) {
    std::string name(without_ending(file.name));
    names.push_back(uses[name] == 1 ? std::move(name) : file.name);
  }
  return names;
}

std::string output_path(Storage& storage, const std::string& folder, const std::string& name) {
  std::string path = join_path(folder, name + ".jsonl.zst");
  storage.make_directories(parent_path(path));
  return path;
}

InputRecords input_records(const StageInputs& inputs, const StageRun& run,
                           const std::string& folder) {
  std::vector<std::vector<InputFile>> files;
  for (const InputFile& file : inputs.files) files.push_back({file});
  return {run.storage, folder, std::move(files), inputs.read};
}

ReadRecord record_of(const ReadCounts& counts) {
  return {counts.documents, counts.bytes, counts.skipped, places_of(counts.first_skipped)};
}

ReadCounts counts_of(const ReadRecord& record) {
  return {record.documents, record.bytes, record.skipped, places_of(record.first_skipped)};
}

json to_json(const RecordPlaces& places) {
  json all = json::object();
  for (const auto& [reason, place] : places) {
    all[reason] = {{"file", place.file}, {"record", place.record}};
  }
  return all;
}

Places places_of(const RecordPlaces& places) {
  Places record;
  for (const auto& [reason, place] : places) record[reason] = {place.file, place.record};
  return record;
}

RecordPlaces places_of(const Places& record) {
  RecordPlaces places;
  for (const auto& [reason, place] : record) places[reason] = {place.file, place.record};
  return places;
}

std::string first_place(const json& places, const std::string& reason) {
  const auto found = places.find(reason);
  if (found == places.end()) return "";
  return fmt::format(" (the first: {}, record {})", found->at("file").get<std::string>(),
                     found->at("record").get<int64_t>());
}

json equal_files(const TaskFolder& tasks, const std::vector<InputFile>& files) {
  EqualFiles equal;
  for_each_task_record<TaskInputs>(tasks, [&](int64_t task, const TaskInputs& record) {
    const auto contents = contents_of(record.inputs);
    if (contents.size() == 1) equal.add(files[static_cast<size_t>(task)], contents[0]);
  });
  return {{"equal_files", equal.count()}, {"equal_examples", equal.examples()}};
}

void run_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
               const TaskFolder::Work& work) {
  int64_t finished = 0, own = 0;
  for (int64_t task = run.share.index; task < tasks.num_tasks(); task += run.share.count) {
    finished += tasks.has_record(task) ? 1 : 0;
    ++own;
  }
  run.observer->on_tasks(step, finished, own);
  tasks.run(run.share, run.threads, work,
            [&](int64_t done, int64_t of) { run.observer->on_tasks(step, done, of); });
}

bool run_all_tasks(TaskFolder& tasks, const StageRun& run, std::string_view step,
                   const TaskFolder::Work& work, const std::function<bool()>& is_pointless) {
  run_tasks(tasks, run, step, work);
  for (;;) {
    const int64_t missing = tasks.num_tasks() - tasks.num_finished();
    if (missing == 0) return true;
    if (is_pointless()) return false;
    if (tasks.help(run.threads, work) > 0) continue;
    run.observer->on_waiting(step, missing);
    std::this_thread::sleep_for(kPollPause);
  }
}

ObservedReader::ObservedReader(const InputFile& file, const ReadSettings& settings,
                               StageObserver& observer)
    : reader_(open_documents(file, settings)), observer_(observer) {}

ObservedReader::~ObservedReader() {
  report();
}

bool ObservedReader::next(Document& document) {
  if (reader_->counts().bytes - reported_bytes_ >= kReportBytes) report();
  return reader_->next(document);
}

void ObservedReader::report() {
  const ReadCounts& counts = reader_->counts();
  observer_.on_documents(counts.documents - reported_documents_, counts.bytes - reported_bytes_);
  reported_documents_ = counts.documents;
  reported_bytes_ = counts.bytes;
}

}  // namespace ingot
