#include "train/start/resume.h"

#include <fmt/ranges.h>

#include "checkpoint/folder.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "ledger/records/run_ledger.h"
#include "plan/resolve.h"
#include "spec/run/run_length.h"
#include "train/start/run_folder.h"

namespace ingot {
namespace {

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::vector<std::string> conflicts(const RunConfig& saved, const ResolvedRun& wanted) {
  RunConfig a = saved, b = *wanted.recorded;
  // Old checkpoints say `auto` where newer ones say what it meant.
  a.train.precision = decided_precision(a.train.precision, wanted.place.device.kind);
  for (RunConfig* config : {&a, &b}) config->batch.tokens = full_batch_tokens(*config);
  const std::vector<Setting> was = settings_of(a), now = settings_of(b);
  std::vector<std::string> found;
  for (size_t i = 0; i < was.size(); ++i) {
    // It is where [model] started from, whose settings are compared one by one.
    if (was[i].name == "preset") continue;
    const SettingValue before = was[i].get(), after = now[i].get();
    if (before != after && !may_change_on_resume(was[i].name))
      found.push_back(
          fmt::format("{} (was {}, is {})", was[i].name, text_of(before), text_of(after)));
  }
  return found;
}

Error other_run(const std::string& from, const std::vector<std::string>& differing) {
  return {ErrorCode::Config,
          fmt::format("cannot resume from {}: these settings define the run and differ: {}; "
                      "restore them, or start another run in another checkpoint.dir",
                      from, fmt::join(differing, ", "))};
}

// A run that has been trained must not begin at step 0 because its checkpoints are unreadable.
void check_nothing_was_trained(Storage& storage, const std::string& dir) {
  const std::string advice = fmt::format(
      "restore a checkpoint from a copy; to start anew, remove {} or set checkpoint.dir to another "
      "folder",
      dir);
  std::vector<std::string> unsound;
  for (const std::string& folder : list_step_folders(storage, dir))
    unsound.push_back(file_name(folder));
  check(unsound.empty(), ErrorCode::Config,
        "cannot resume from {}: all that it holds is damaged or incomplete ({}): {}", dir,
        fmt::join(unsound, ", "), advice);
  const std::string ledger = join_path(dir, kRunLedgerName);
  if (!storage.exists(ledger)) return;
  for_each_run_record(storage, ledger, [&](const RunEntry& entry) {
    check(!std::holds_alternative<SavedReport>(entry.record), ErrorCode::Config,
          "cannot resume from {}: its ledger says that checkpoints were saved, and none is there: "
          "{}",
          dir, advice);
  });
}

// Whether a checkpoint's file is the tokenizer: as it serializes, also under another version of
// Unicode, or as a plain copy of the file that was given.
bool is_same(Storage& storage, const std::string& saved, const Tokenizer& tokenizer,
             const std::string& given) {
  try {
    if (load_tokenizer(storage, saved)->serialize() == tokenizer.serialize()) return true;
  } catch (const Error&) {
    // A copy without what lay beside the file.
  }
  try {
    return read_text(storage, saved) == read_text(storage, given);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<CheckpointReader> find_resume_point(
    std::shared_ptr<Storage> storage, const ResolvedRun& run, bool resume,
    const std::shared_ptr<CheckpointChoice>& checkpoints) {
  const std::string& dir = run.config.checkpoint.dir;
  if (!resume) {
    const auto existing = list_step_folders(*storage, dir);
    check(existing.empty(), ErrorCode::Config,
          "{} already holds {} checkpoints: add --resume to continue from them, or set "
          "checkpoint.dir "
          "to another folder",
          dir, existing.size());
    return std::nullopt;
  }
  std::optional<CheckpointChoice> own;
  if (!checkpoints) own = CheckpointChoice::of_run(storage, dir);
  CheckpointChoice& choice = checkpoints ? *checkpoints : *own;
  const CheckpointReader* newest = choice.good();
  if (newest == nullptr) {
    check_nothing_was_trained(*storage, dir);
    return std::nullopt;
  }
  const CheckpointInfo& info = newest->info();
  const auto differing = conflicts(parse_run_config(info.config_toml, info.dir, {}), run);
  if (!differing.empty()) throw other_run(info.dir, differing);
  for (const auto& [folder, why] : choice.passed_over())
    log::warn("checkpoint_passed_over",
              {{"dir", folder},
               {"why", why},
               {"resumes_from", info.dir},
               {"then", "it is replaced when the run saves that step again"}});
  return *newest;
}

std::unique_ptr<Tokenizer> tokenizer_to_resume(Storage& storage, const RunConfig& config,
                                               const CheckpointInfo& checkpoint) {
  const std::string& given = config.data.tokenizer;
  const std::string& saved = checkpoint.tokenizer;
  if (given != "byte" && !storage.exists(given)) {
    log::info("tokenizer_of_checkpoint", {{"missing", given}, {"used", saved}});
    return load_tokenizer(storage, saved);
  }
  auto tokenizer = load_tokenizer(storage, given);
  check(is_same(storage, saved, *tokenizer, given), ErrorCode::Config,
        "cannot resume from {}: data.tokenizer {} is not the tokenizer that it was trained with, "
        "{}; restore it, or start another run in another checkpoint.dir",
        checkpoint.dir, given, saved);
  return tokenizer;
}

void check_steps_fit(const std::string& dir, const RunConfig& begun, const RunConfig& wanted) {
  const int64_t was = begun.batch.seq, is = wanted.batch.seq;
  if (was == is || wanted.batch.tokens != begun.batch.tokens) return;
  // Whether so many tokens make a step depends on the ranks, which are not known yet.
  throw other_run(dir, {fmt::format("batch.seq (was {}, is {})", was, is)});
}

std::optional<SavedRun> find_saved_run(std::shared_ptr<Storage> storage, const std::string& dir,
                                       const Overrides& overrides) {
  std::string from = join_path(dir, kRunConfigName), text;
  if (storage->exists(from)) text = read_text(*storage, from);
  Overrides all = overrides;
  std::shared_ptr<CheckpointChoice> checkpoints;
  RunConfig begun;
  if (!text.empty()) begun = parse_run_config(text, from, {});
  // run.toml of an older program does not say how many tokens a step has, nor how many processes
  // computed it.
  if (begun.batch.tokens == 0) {
    checkpoints = std::make_shared<CheckpointChoice>(CheckpointChoice::of_run(storage, dir));
    const CheckpointReader* newest = checkpoints->readable();
    if (newest == nullptr && text.empty()) return std::nullopt;
    if (newest != nullptr) {
      const CheckpointInfo& info = newest->info();
      begun = parse_run_config(info.config_toml, info.dir, {});
      begun.batch.tokens = full_batch_tokens(begun);
      all.emplace(all.begin(), "batch.tokens", std::to_string(begun.batch.tokens));
      if (text.empty()) {
        text = info.config_toml;
        from = info.dir;
      }
    }
  }
  SavedRun saved{parse_run_config(text, from, all), std::move(checkpoints)};
  check_steps_fit(dir, begun, saved.config);
  return saved;
}

SavedRun saved_run(std::shared_ptr<Storage> storage, const std::string& dir, Overrides overrides) {
  for (const auto& [name, value] : overrides)
    check(name != "checkpoint.dir", ErrorCode::Usage,
          "checkpoint.dir = {}: the run resumes in {}, where its checkpoints are", value, dir);
  overrides.emplace_back("checkpoint.dir", dir);  // the folder may have moved
  auto saved = find_saved_run(storage, dir, overrides);
  check(saved.has_value(), ErrorCode::Data,
        "{} is no run to resume: expected a {} or a sound checkpoint in it; give its recipe", dir,
        kRunConfigName);
  return *std::move(saved);
}

}  // namespace ingot
