#include "cli/eval/eval_run.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "checkpoint/checkpoint.h"
#include "checkpoint/folder.h"
#include "checkpoint/hold.h"
#include "cli/eval/eval_prompts.h"
#include "cli/start/signals.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "ledger/records/run_ledger.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

int64_t step_of(const std::string& dir) {
  return parse_step_name(file_name(dir)).value_or(0);
}

// Whether the last thing that the run wrote down is that it is complete.
bool is_complete(Storage& storage, const std::string& run) {
  const std::string path = join_path(run, kRunLedgerName);
  bool complete = false;
  if (!storage.exists(path)) return false;
  for_each_run_record(storage, path, [&](const RunEntry& entry) {
    complete = std::holds_alternative<EndReport>(entry.record);
  });
  return complete;
}

// Steps that evals.jsonl has.
std::set<int64_t> watched_steps(Storage& storage, const std::string& run) {
  std::set<int64_t> steps;
  const std::string path = join_path(run, kWatchedName);
  if (!storage.exists(path)) return steps;
  const std::string contents = read_text(storage, path);
  for (std::string_view rest = contents; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    // A line that a kill cut off is scored again.
    if (record.is_object() && record.contains("step") && record["step"].is_number_integer())
      steps.insert(record["step"].get<int64_t>());
  }
  return steps;
}

void append_line(Storage& storage, const std::string& path, const Json& record) {
  const auto file = storage.open_append(path);
  const std::string line =
      record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  file->append(std::as_bytes(std::span(line)));
  file->sync();
  file->close();
}

}  // namespace

Json run_timeline(const OpenEvalModel& open, const std::string& run, const ScoreModel& score) {
  const auto storage = posix_storage();
  const std::vector<std::string> dirs = list_checkpoints(*storage, run);
  check(!dirs.empty(), ErrorCode::Data, "{}: {}", run, why_no_checkpoint(*storage, run));
  std::vector<std::pair<int64_t, std::vector<PromptAnswer>>> answers;
  Json result = Json::array();
  for (const std::string& dir : dirs) {
    const CheckpointHold hold(storage, dir);
    if (!hold.is_there()) continue;
    EvalModel model = open(dir);
    Json row = {{"step", step_of(dir)}};
    if (score) {
      fmt::print("step {}\n", format_count(step_of(dir)));
      row.update(score(model));
    }
    answers.emplace_back(step_of(dir), answer_prompts(model.prompt_ids(), model.scorer(),
                                                      [](const PromptAnswer&) {}));
    row["answers"] = Json::array();
    for (const PromptAnswer& answer : answers.back().second) row["answers"].push_back(answer.text);
    row["right_en"] = right_answers(answers.back().second, "en").right;
    row["right_zh"] = right_answers(answers.back().second, "zh").right;
    result.push_back(std::move(row));
  }
  for (size_t i = 0; i < eval_prompts().size(); ++i) {
    fmt::print("«{}»\n", shown_on_one_line(eval_prompts()[i].text));
    for (const auto& [step, of_step] : answers) {
      const PromptAnswer& answer = of_step[i];
      const char* mark = !answer.prompt->is_question() ? " " : answer.is_correct ? "+" : "-";
      fmt::print("{:>12} {} {}\n", format_count(step), mark, shown_on_one_line(answer.text));
    }
  }
  fmt::print("{:>12}{:>16}{:>16}\n", "step", "questions (en)", "questions (zh)");
  for (const auto& [step, of_step] : answers) {
    const QuestionCount en = right_answers(of_step, "en"), zh = right_answers(of_step, "zh");
    fmt::print("{:>12}{:>16}{:>16}\n", format_count(step),
               fmt::format("{} of {}", en.right, en.all),
               fmt::format("{} of {}", zh.right, zh.all));
  }
  return result;
}

void watch_run(const OpenEvalModel& open, const std::string& run, const ScoreModel& score) {
  constexpr auto kPause = std::chrono::seconds(2);
  const auto storage = posix_storage();
  check(storage->exists(run), ErrorCode::Data, "{}: no such run folder", run);
  const Interruption interruption;  // a hold is released first
  std::set<int64_t> damaged;
  while (true) {
    interruption.throw_if_asked();
    // Asked before the checkpoints are listed: what a complete run saved is in the list.
    const bool complete = is_complete(*storage, run);
    const std::set<int64_t> done = watched_steps(*storage, run);
    bool found = false;
    for (const std::string& dir : list_checkpoints(*storage, run)) {
      const int64_t step = step_of(dir);
      if (done.contains(step) || damaged.contains(step)) continue;
      const CheckpointHold hold(storage, dir);
      if (!hold.is_there()) continue;  // retention was faster
      found = true;
      try {
        fmt::print("step {}\n", format_count(step));
        EvalModel model = open(dir);
        Json record = {{"step", step}};
        record.update(score(model));
        append_line(*storage, join_path(run, kWatchedName), record);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Data) throw;
        log::warn("checkpoint_not_scored", {{"dir", dir}, {"why", error.what()}});
        damaged.insert(step);
      }
      std::fflush(stdout);
      interruption.throw_if_asked();
    }
    if (complete && !found) return;
    if (!found) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace ingot::cli
