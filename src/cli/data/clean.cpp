// ingot data clean: which documents stay, and what is left of them.
#include <fmt/format.h>

#include <memory>

#include "cli/data/stage.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "ingest/clean/clean_stage.h"

namespace ingot::cli {
namespace {

struct Options {
  StageOptions stage;
  std::string preset, config;
  std::vector<std::string> sets;
  bool keeps_removed = false, prints_config = false;
};

CleanSettings load_settings(const Options& options) {
  Overrides overrides = parse_sets(options.sets);
  for (const auto& [key, value] : overrides)
    check(key != "preset" || options.preset.empty() || options.preset == value, ErrorCode::Usage,
          "--preset {} and --set preset={}: leave one of them out", options.preset, value);
  if (!options.preset.empty()) overrides.insert(overrides.begin(), {"preset", options.preset});
  const auto storage = posix_storage();
  const std::string toml = options.config.empty() ? "" : read_text(*storage, options.config);
  return parse_clean_config(toml, options.config, overrides);
}

void print_report(const nlohmann::json& report, const std::string& folder) {
  const int64_t documents = report["documents"], kept = report["kept"];
  const int64_t bytes_in = report["bytes_in"], bytes_kept = report["bytes_kept"];
  fmt::print("kept {} of {} documents ({}), {} of {} of text ({})\n", format_count(kept),
             format_count(documents), format_percent(kept, documents), format_bytes(bytes_kept),
             format_bytes(bytes_in), format_percent(bytes_kept, bytes_in));
  for (const auto& rule : report["removed"]) {
    const int64_t count = rule["documents"];
    fmt::print("  {:>12}  {:>7}  {} {}\n", format_count(count), format_percent(count, documents),
               rule["step"].get<std::string>(), rule["reason"].get<std::string>());
  }
  print_what_was_read(report);
  fmt::print("documents in {0}/documents, samples in {0}/report.html\n", folder);
}

std::string filter_lines() {
  std::string lines;
  for (const OwnedFilterSettings& filter : all_filters())
    lines += fmt::format("  {:<18}  {}\n", filter->name(), filter->doc());
  return lines;
}

void clean(const Options& options) {
  CleanStage stage;
  stage.settings = load_settings(options);
  if (options.prints_config) {
    fmt::print("{}", to_toml(stage.settings));
    return;
  }
  check(!options.stage.inputs.empty() && !options.stage.out.empty(), ErrorCode::Usage,
        "clean: expected INPUT files and --out FOLDER; see ingot data clean --help");
  stage.inputs = options.stage.stage_inputs();
  stage.keeps_removed = options.keeps_removed;
  finish_stage(
      options.stage, [&](const StageRun& run) { return run_clean(stage, run); }, print_report);
}

}  // namespace

void add_data_clean(Command& data) {
  auto options = std::make_shared<Options>();
  auto* command = data.add_subcommand(
      "clean", "filter documents by FineWeb's rules; says what was removed and why");
  options->stage.add_to(*command);
  for (const char* name : {"INPUT", "--out"}) {  // --print-config does without
    command->get_option(name)->required(false);
  }
  command
      ->add_option("--preset", options->preset, "program whose formulas are used (datatrove-0.10)")
      ->one_of(std::vector<std::string>(std::begin(kCleanPresets), std::end(kCleanPresets)));
  command->add_option("--config", options->config, "TOML file of settings")->existing_file();
  command->add_option("--set", options->sets, "over the config file; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->suggest([] {
        CleanSettings settings;
        std::vector<std::string> names;
        for (const Setting& setting : settings_of(settings)) names.push_back(setting.name + "=");
        return names;
      });
  command->add_flag("--keep-removed", options->keeps_removed,
                    "write removed documents to OUT/removed, with step and reason");
  command->add_flag("--print-config", options->prints_config,
                    "print all settings as TOML for --config, and stop");
  command->footer(fmt::format(
      "Writes OUT/documents/NAME.jsonl.zst for each input, report.json and report.html. Run it\n"
      "again after an interruption: finished files are not repeated. Example:\n"
      "  ingot data clean crawl/*.jsonl.gz --out cleaned \\\n"
      "    --set language.model=lid.176.bin --set language.languages=en\n"
      "Filters, in this order; --set NAME.enabled=false leaves one out:\n{}",
      filter_lines()));
  command->callback(
      [options] { run_as_process(options->stage.process, [&] { clean(*options); }); });
}

}  // namespace ingot::cli
