#include "ingest/clean/clean_stage.h"

#include <fmt/format.h>

#include "ingest/clean/clean_report.h"
#include "ingest/clean/cleaner.h"
#include "ingest/write/document_writer.h"

namespace ingot {
namespace {

using nlohmann::json;

json description_of(const CleanStage& stage, uint64_t files_hash) {
  CleanSettings copy = stage.settings;
  json settings = json::object();
  for (const Setting& setting : settings_of(copy)) {
    std::visit([&](const auto& value) { settings[setting.name] = value; }, setting.get());
  }
  return {{"stage", "clean"},
          {"settings", std::move(settings)},
          {"resources", fmt::format("{:016x}", files_hash)},
          {"inputs", describe(stage.inputs)},
          {"keeps_removed", stage.keeps_removed}};
}

// One input file from beginning to end.
class CleanTask {
 public:
  CleanTask(const CleanStage& stage, const StageRun& run, const Cleaner& cleaner, size_t file,
            const std::string& name)
      : file_(stage.inputs.files[file]),
        worker_(cleaner),
        reader_(file_, stage.inputs.read, *run.observer) {
    Storage& storage = *run.storage;
    kept_ = create_documents(run.storage,
                             output_path(storage, join_path(run.folder, "documents"), name));
    if (stage.keeps_removed) {
      removed_ = create_documents(run.storage,
                                  output_path(storage, join_path(run.folder, "removed"), name));
    }
  }

  json run() {
    Document document;
    for (int64_t number = 0; reader_.next(document); ++number) {
      const Verdict verdict = worker_.clean(document);
      if (verdict.kept()) {
        samples_.add("kept", file_.name, number, document);
        kept_->write(document);
        continue;
      }
      const std::string label = fmt::format("{} {}", verdict.step, verdict.reason);
      samples_.add(label, file_.name, number, document);
      if (removed_ != nullptr) {
        removed_->write(document, {{"step", std::string(verdict.step)},
                                   {"reason", std::string(verdict.reason)}});
      }
    }
    if (removed_ != nullptr) removed_->commit();
    kept_->commit();
    CleanRecord record = record_of(CleanTotals{worker_.counts(), reader_.counts(), samples_});
    record.inputs = records_of({reader_.content()});
    return task_record(record);
  }

 private:
  const InputFile& file_;
  CleanWorker worker_;
  ObservedReader reader_;
  std::unique_ptr<DocumentWriter> kept_, removed_;
  Samples samples_;
};

}  // namespace

std::optional<json> run_clean(const CleanStage& stage, const StageRun& run) {
  const Cleaner cleaner(stage.settings, *run.storage);
  TaskFolder tasks(run.storage, run.folder, description_of(stage, cleaner.files_hash()),
                   static_cast<int64_t>(stage.inputs.files.size()));
  const InputRecords inputs = input_records(stage.inputs, run, run.folder);
  inputs.check(tasks, run.share, run.threads);
  const std::vector<std::string> names = output_names(stage.inputs.files);
  run_tasks(tasks, run, "clean", inputs.stamped([&](int64_t task) {
    const auto file = static_cast<size_t>(task);
    return CleanTask(stage, run, cleaner, file, names[file]).run();
  }));
  if (!tasks.finished()) return std::nullopt;

  CleanTotals totals;
  for_each_task_record<CleanRecord>(
      tasks, [&](int64_t, const CleanRecord& record) { add_record(totals, record); });
  json report = clean_report(stage.settings, tasks.num_tasks(), totals);
  report.update(equal_files(tasks, stage.inputs.files));
  publish_file(*run.storage, join_path(run.folder, "report.html"),
               clean_report_page(stage.settings, report, totals.samples));
  publish_file(*run.storage, join_path(run.folder, "report.json"), report.dump(1) + "\n");
  return report;
}

}  // namespace ingot
