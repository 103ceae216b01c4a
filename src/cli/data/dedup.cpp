// ingot data dedup: of documents that are alike, one stays.
#include <fmt/format.h>

#include <memory>

#include "cli/data/stage.h"
#include "core/text/format.h"
#include "ingest/dedup/dedup_stage.h"

namespace ingot::cli {
namespace {

struct Options {
  StageOptions stage;
  DedupSettings dedup;
  bool keeps_removed = false;
  int64_t memory_bytes = int64_t{1} << 30;
};

void print_report(const nlohmann::json& report, const std::string& folder) {
  const int64_t documents = report["documents"], kept = report["kept"];
  const int64_t bytes_in = report["bytes_in"], bytes_kept = report["bytes_kept"];
  fmt::print("kept {} of {} documents ({}), {} of {} of text ({})\n", format_count(kept),
             format_count(documents), format_percent(kept, documents), format_bytes(bytes_kept),
             format_bytes(bytes_in), format_percent(bytes_kept, bytes_in));
  fmt::print("{} clusters of duplicates", format_count(report["clusters"].get<int64_t>()));
  for (const auto& row : report["clusters_by_size"]) {
    fmt::print("{} {} of {} to {}", &row == &report["clusters_by_size"].front() ? ":" : ",",
               format_count(row["clusters"].get<int64_t>()), row["from"].get<int64_t>(),
               row["to"].get<int64_t>());
  }
  fmt::print("\n");
  print_what_was_read(report);
  fmt::print("documents in {0}/documents, samples in {0}/report.html\n", folder);
}

void dedup(const Options& options) {
  DedupStage stage;
  stage.settings = options.dedup;
  stage.inputs = options.stage.stage_inputs(Copies::Removed);
  stage.keeps_removed = options.keeps_removed;
  stage.memory_bytes = options.memory_bytes;
  finish_stage(
      options.stage, [&](const StageRun& run) { return run_dedup(stage, run); }, print_report);
}

}  // namespace

void add_data_dedup(Command& data) {
  auto options = std::make_shared<Options>();
  auto* command =
      data.add_subcommand("dedup", "remove documents that are equal or nearly equal to others");
  options->stage.add_to(*command);
  add_settings(*command, settings_of(options->dedup));
  command
      ->add_option("--memory", options->memory_bytes,
                   "bytes for sorting (512MB, 4GB, …), besides one document a thread")
      ->size_in_bytes()
      ->default_str("1GB");
  command->add_flag("--keep-removed", options->keeps_removed,
                    "write removed documents to OUT/removed, with the one that stays");
  command->footer(
      "Of documents that are alike the first stays: inputs in the order given, documents in that\n"
      "of their file. Writes OUT/documents/NAME.jsonl.zst for each input, report.json and\n"
      "report.html; run it again after an interruption. Example:\n"
      "  ingot data dedup cleaned/documents --out deduplicated");
  command->callback(
      [options] { run_as_process(options->stage.process, [&] { dedup(*options); }); });
}

}  // namespace ingot::cli
