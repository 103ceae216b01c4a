#include "cli/data/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/start/launched.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "ingest/read/equal_inputs.h"

namespace ingot::cli {

ProcessShare process_share(const std::string& option) {
  if (!option.empty()) {
    const size_t slash = option.find('/');
    check(slash != std::string::npos, ErrorCode::Usage,
          "--process: expected K/N such as 0/4, got «{}»", option);
    const ProcessNumber given =
        parse_process(option.substr(0, slash), option.substr(slash + 1), "--process");
    return {given.index, given.count};
  }
  const ProcessNumber found = process_number().value_or(ProcessNumber());
  return {found.index, found.count};
}

void run_as_process(const std::string& process, const std::function<void()>& command) {
  const ProcessShare share = process_share(process);
  try {
    command();
  } catch (Error& error) {
    if (share.count > 1) error.on_rank(static_cast<int>(share.index));
    throw;
  }
}

StageOptions::StageOptions() : threads(available_cores()) {}

void StageOptions::add_to(Command& command, const std::vector<std::string>& read_settings) {
  command
      .add_option(
          "INPUT", inputs,
          "files, folders, globs or http(s)://, hf:// and s3:// addresses: .jsonl .txt .csv "
          ".parquet .warc, also .gz and .zst")
      ->required();
  command.add_option("--out", out, "folder of the outputs; begun work there is continued")
      ->required();
  command.add_option("--threads", threads, "threads at work; outputs do not depend on it")
      ->positive()
      ->capture_default_str();
  command.add_option(
      "--process", process,
      "K/N: be process K (from 0) of N that share the work through --out; not needed "
      "under srun and mpirun");
  add_settings(command, settings_of(read), read_settings);
  remote.add_to(command);
  json.add_to(command);
}

ReadSettings StageOptions::read_settings() const {
  ReadSettings settings = read;
  settings.remote = remote.settings();
  return settings;
}

StageInputs StageOptions::stage_inputs(Copies copies) const {
  StageInputs listed{{}, read_settings()};
  listed.files = list_input_files(inputs, listed.read.remote, out);
  check_read_once(listed.files, out);
  if (copies == Copies::Refused && !is_begun(out)) {
    const std::string problem = equal_inputs(listed.files, threads);
    check(problem.empty(), ErrorCode::Data, "{}", problem);
  }
  check_text_field(listed.files, listed.read, is_first_look(out, process_share(process)));
  return listed;
}

bool is_begun(const std::string& out) {
  return posix_storage()->exists(join_path(out, "stage.json"));
}

bool is_first_look(const std::string& out, ProcessShare share) {
  return share.index == 0 && !is_begun(out);
}

void check_read_once(const std::vector<InputFile>& files, const std::string& out) {
  const std::string problem = same_file_twice(files);
  if (problem.empty()) return;
  check(is_begun(out), ErrorCode::Data, "{}", problem);
  log::warn("input_read_twice", {{"folder", out}, {"why", problem}});
}

StageRun StageOptions::stage_run(StageObserver& observer) const {
  StageRun run;
  run.storage = posix_storage();
  run.folder = out;
  run.share = process_share(process);
  run.threads = threads;
  run.observer = &observer;
  if (run.share.count > 1) {
    fmt::print(stderr, "process {} of {}\n", run.share.index, run.share.count);
  }
  return run;
}

void StageProgress::on_tasks(std::string_view step, int64_t done, int64_t of) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  done_ = done;
  of_ = of;
  show();
}

void StageProgress::on_documents(int64_t documents, int64_t text_bytes) {
  const std::lock_guard lock(mutex_);
  documents_ += documents;
  bytes_ += text_bytes;
  show();
}

void StageProgress::on_tokens(int64_t tokens) {
  const std::lock_guard lock(mutex_);
  tokens_ += tokens;
}

void StageProgress::on_input(int64_t bytes_read, int64_t of) {
  const std::lock_guard lock(mutex_);
  bytes_read_ = bytes_read;
  bytes_total_ = of;
}

void StageProgress::on_waiting(std::string_view step, int64_t tasks_of_others) {
  const std::lock_guard lock(mutex_);
  if (!line_.is_due()) return;
  line_.show(fmt::format("{}: waiting for {} tasks of other processes", step,
                         format_count(tasks_of_others)));
}

void StageProgress::show() {
  if (!line_.is_due()) return;
  const double seconds = std::max(1e-3, line_.seconds());
  std::string text = fmt::format("{}: {} of {} tasks, {} documents, {} of text, {}", step_,
                                 format_count(done_), format_count(of_), format_count(documents_),
                                 format_bytes(bytes_), format_byte_rate(bytes_, seconds));
  if (tokens_ > 0) text += fmt::format(", {} tokens", format_count(tokens_));
  if (bytes_total_ > 0 && bytes_read_ > 0) {
    const double done = static_cast<double>(bytes_read_) / static_cast<double>(bytes_total_);
    text += fmt::format(", {}, {} left", format_percent(done),
                        format_duration(std::max(0.0, seconds / done - seconds)));
  }
  line_.show(text);
}

void finish_stage(
    const StageOptions& options,
    const std::function<std::optional<nlohmann::json>(const StageRun& run)>& run_stage,
    const std::function<void(const nlohmann::json& report, const std::string& folder)>& print) {
  std::optional<nlohmann::json> report;
  {
    StageProgress progress;
    report = run_stage(options.stage_run(progress));
  }
  if (!report) {
    fmt::print(
        "this process has done its share of {}; the last one to finish writes the report (if one "
        "died, run again)\n",
        options.out);
    options.json.print({{"finished", false}});
    return;
  }
  print(*report, options.out);
  report->erase("samples");
  (*report)["finished"] = true;
  options.json.print(*report);
}

void print_what_was_read(const nlohmann::json& report) {
  for (const auto& [reason, count] : report["skipped"].items()) {
    fmt::print("  {:>12}           skipped while reading: {}{}\n",
               format_count(count.get<int64_t>()), reason,
               first_place(report["first_skipped"], reason));
  }
  const int64_t equal_files = report.value("equal_files", int64_t{0});
  if (equal_files == 0) return;
  fmt::print("{}\n", text_of_equal_files(equal_files,
                                         report["equal_examples"].get<std::vector<std::string>>()));
}

}  // namespace ingot::cli
