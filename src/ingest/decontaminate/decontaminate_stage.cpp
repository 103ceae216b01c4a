#include "ingest/decontaminate/decontaminate_stage.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <map>

#include "ingest/tasks/html_page.h"
#include "ingest/tasks/samples.h"
#include "ingest/write/document_writer.h"

namespace ingot {
namespace {

using nlohmann::json;

uint64_t hash_of(const EvalTask& task) {
  uint64_t hash = 0;
  for (const EvalItem& item : task.items) {
    for (const std::string* text : {&item.query, &item.label}) {
      hash = XXH3_64bits_withSeed(text->data(), text->size(), hash + text->size());
    }
  }
  return hash;
}

json description_of(const DecontaminateStage& stage) {
  const ContaminationSettings& s = stage.settings;
  json tasks = json::array();
  for (const EvalTask& task : stage.tasks) {
    tasks.push_back({{"name", task.name}, {"hash", fmt::format("{:016x}", hash_of(task))}});
  }
  return {{"stage", "decontaminate"},
          {"settings",
           {{"n_gram", s.n_gram},
            {"straddling", s.straddling},
            {"query", s.query},
            {"splitter", s.splitter},
            {"normal_form",
             s.normal_form == text::NormalForm::FinewebV1 ? "fineweb-v1" : "datatrove-0.10"}}},
          {"tasks", std::move(tasks)},
          {"inputs", describe(stage.inputs)},
          {"keeps_removed", stage.keeps_removed}};
}

// Of one file, or of all.
struct Totals {
  int64_t documents = 0, kept = 0, bytes_in = 0, bytes_kept = 0;
  std::map<std::string, int64_t> removed;  // by task
  ReadCounts read;
  Samples samples;  // by task
};

DecontaminateRecord record_of(const Totals& totals) {
  return {.documents = totals.documents,
          .kept = totals.kept,
          .bytes_in = totals.bytes_in,
          .bytes_kept = totals.bytes_kept,
          .removed = totals.removed,
          .read = record_of(totals.read),
          .samples = totals.samples.lists()};
}

void add_record(Totals& totals, const DecontaminateRecord& record) {
  totals.documents += record.documents;
  totals.kept += record.kept;
  totals.bytes_in += record.bytes_in;
  totals.bytes_kept += record.bytes_kept;
  for (const auto& [task, count] : record.removed) totals.removed[task] += count;
  totals.read += counts_of(record.read);
  totals.samples.merge(record.samples);
}

json filter(const DecontaminateStage& stage, const StageRun& run, const ContaminationIndex& index,
            const InputFile& file, const std::string& name) {
  const auto create = [&](const char* folder) {
    return create_documents(run.storage,
                            output_path(*run.storage, join_path(run.folder, folder), name));
  };
  const auto kept = create("documents");
  const auto removed = stage.keeps_removed ? create("removed") : nullptr;
  ContaminationFinder finder(index);
  ObservedReader reader(file, stage.inputs.read, *run.observer);
  Totals totals;
  Document document;
  for (int64_t number = 0; reader.next(document); ++number) {
    const auto size = static_cast<int64_t>(document.text.size());
    ++totals.documents;
    totals.bytes_in += size;
    const auto found = finder.find(document.text);
    if (!found) {
      ++totals.kept;
      totals.bytes_kept += size;
      kept->write(document);
      continue;
    }
    const std::string& task = index.tasks()[found->task].name;
    ++totals.removed[task];
    totals.samples.add(task, file.name, number, document, found->n_gram);
    if (removed != nullptr) {
      removed->write(document, {{"reason", "contaminated"},
                                {"contaminated_task", task},
                                {"contaminated_ngram", found->n_gram}});
    }
  }
  if (removed != nullptr) removed->commit();
  kept->commit();
  totals.read = reader.counts();
  DecontaminateRecord record = record_of(totals);
  record.inputs = records_of({reader.content()});
  return task_record(record);
}

json report_of(const json& description, const ContaminationIndex& index, const Totals& totals,
               int64_t num_files) {
  json tasks = json::array();
  for (const auto& task : index.tasks()) {
    const auto removed = totals.removed.find(task.name);
    tasks.push_back({{"name", task.name},
                     {"items", task.items},
                     {"unprotected_items", task.unprotected},
                     {"removed_documents", removed == totals.removed.end() ? 0 : removed->second}});
  }
  return {{"stage", "decontaminate"},
          {"settings", description["settings"]},
          {"n_grams", index.num_n_grams()},
          {"tasks", std::move(tasks)},
          {"files", num_files},
          {"documents", totals.documents},
          {"kept", totals.kept},
          {"removed", totals.documents - totals.kept},
          {"bytes_in", totals.bytes_in},
          {"bytes_kept", totals.bytes_kept},
          {"skipped", totals.read.skipped},
          {"first_skipped", to_json(totals.read.first_skipped)},
          {"samples", totals.samples.to_json()}};
}

std::string page_of(const json& report, const Samples& samples) {
  HtmlPage page("Decontamination");
  const int64_t documents = report["documents"], kept = report["kept"];
  page.bars({{"kept", kept}, {"removed", documents - kept}}, documents);
  page.heading("Tasks");
  page.paragraph(
      "An item that is unprotected has too few words for an n-gram: a document that contains it is "
      "not found.");
  std::vector<std::vector<std::string>> rows;
  for (const json& task : report["tasks"]) {
    rows.push_back({task["name"], task["items"].dump(), task["unprotected_items"].dump(),
                    task["removed_documents"].dump()});
  }
  page.table({"task", "items", "unprotected", "documents removed"}, rows);
  page.heading("Samples of what was removed, with the n-gram found");
  page.samples(samples);
  return page.str();
}

}  // namespace

std::optional<json> run_decontaminate(const DecontaminateStage& stage, const StageRun& run) {
  const json description = description_of(stage);
  const ContaminationIndex index(stage.settings, stage.tasks);
  const std::vector<InputFile>& files = stage.inputs.files;
  TaskFolder tasks(run.storage, run.folder, description, static_cast<int64_t>(files.size()));
  const InputRecords inputs = input_records(stage.inputs, run, run.folder);
  inputs.check(tasks, run.share, run.threads);
  const std::vector<std::string> names = output_names(files);
  run_tasks(tasks, run, "decontaminate", inputs.stamped([&](int64_t task) {
    const auto i = static_cast<size_t>(task);
    return filter(stage, run, index, files[i], names[i]);
  }));
  if (!tasks.finished()) return std::nullopt;

  Totals totals;
  for_each_task_record<DecontaminateRecord>(
      tasks, [&](int64_t, const DecontaminateRecord& record) { add_record(totals, record); });
  json report = report_of(description, index, totals, tasks.num_tasks());
  report.update(equal_files(tasks, files));
  publish_file(*run.storage, join_path(run.folder, "report.html"), page_of(report, totals.samples));
  publish_file(*run.storage, join_path(run.folder, "report.json"), report.dump(1) + "\n");
  return report;
}

}  // namespace ingot
