// ingot data decontaminate: what evaluation tasks ask must not be trained on.
#include <fmt/format.h>

#include <memory>
#include <set>

#include "cli/data/stage.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "ingest/decontaminate/decontaminate_stage.h"

namespace ingot::cli {
namespace {

struct Options {
  StageOptions stage;
  std::vector<std::string> against;
  ContaminationSettings settings;
  bool keeps_removed = false;
};

std::vector<EvalTask> read_tasks(const std::vector<std::string>& paths) {
  const auto storage = posix_storage();
  std::vector<EvalTask> tasks;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    const std::string file = file_name(path), name = file.substr(0, file.find(".jsonl"));
    check(names.insert(name).second, ErrorCode::Usage,
          "--against: expected files of different names, got «{}» twice", name);
    tasks.push_back(parse_eval_task(name, read_text(*storage, path), path));
  }
  return tasks;
}

void print_report(const nlohmann::json& report, const std::string& folder) {
  const int64_t documents = report["documents"], kept = report["kept"];
  fmt::print("kept {} of {} documents ({})\n", format_count(kept), format_count(documents),
             format_percent(kept, documents));
  fmt::print("  {:>9}  {:>9}  {:>11}  task\n", "removed", "items", "unprotected");
  for (const auto& task : report["tasks"]) {
    fmt::print("  {:>9}  {:>9}  {:>11}  {}\n", task["removed_documents"].get<int64_t>(),
               task["items"].get<int64_t>(), task["unprotected_items"].get<int64_t>(),
               task["name"].get<std::string>());
  }
  print_what_was_read(report);
  fmt::print(
      "unprotected items are too short for an n-gram; documents in {0}/documents, samples "
      "in {0}/report.html\n",
      folder);
}

void decontaminate(const Options& options) {
  DecontaminateStage stage;
  stage.settings = options.settings;
  stage.tasks = read_tasks(options.against);
  stage.inputs = options.stage.stage_inputs();
  stage.keeps_removed = options.keeps_removed;
  finish_stage(
      options.stage, [&](const StageRun& run) { return run_decontaminate(stage, run); },
      print_report);
}

}  // namespace

void add_data_decontaminate(Command& data) {
  auto options = std::make_shared<Options>();
  auto* command = data.add_subcommand("decontaminate",
                                      "remove documents that contain items of evaluation tasks");
  options->stage.add_to(*command);
  command
      ->add_option("--against", options->against,
                   "task files: JSON lines of {query, choices, gold}, {context, continuation} or "
                   "{context_options, continuation, gold}")
      ->required();
  add_settings(*command, settings_of(options->settings));
  command->add_flag("--keep-removed", options->keeps_removed,
                    "write removed documents to OUT/removed, with task and n-gram");
  command->footer(
      "Writes OUT/documents/NAME.jsonl.zst for each input, report.json and report.html; run it\n"
      "again after an interruption. Example:\n"
      "  ingot data decontaminate dedup/documents --against arc_easy.jsonl --out clean");
  command->callback(
      [options] { run_as_process(options->stage.process, [&] { decontaminate(*options); }); });
}

}  // namespace ingot::cli
