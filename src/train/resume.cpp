#include "train/resume.h"

#include <fmt/ranges.h>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/log.h"
#include "spec/run_length.h"
#include "train/engine.h"

namespace ingot {
namespace {

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::vector<std::string> conflicts(const RunConfig& saved, const RunConfig& wanted) {
  RunConfig a = saved, b = wanted;
  // Old checkpoints say `auto` where newer ones say what it meant.
  a.train.precision = precision_of(a, run_device(b));
  for (RunConfig* config : {&a, &b}) config->batch.tokens = full_batch_tokens(*config);
  const std::vector<Setting> was = settings_of(a), now = settings_of(b);
  std::vector<std::string> found;
  for (size_t i = 0; i < was.size(); ++i) {
    const SettingValue before = was[i].get(), after = now[i].get();
    if (before != after && !may_change_on_resume(was[i].name))
      found.push_back(
          fmt::format("{} (was {}, is {})", was[i].name, text_of(before), text_of(after)));
  }
  return found;
}

}  // namespace

std::optional<std::string> find_resume_point(std::shared_ptr<Storage> storage,
                                             const RunConfig& config, bool resume) {
  const std::string& dir = config.checkpoint.dir;
  if (!resume) {
    const auto existing = list_checkpoints(*storage, dir);
    check(existing.empty(), ErrorCode::Config,
          "{} already holds {} checkpoints: add --resume to go on from them, or set checkpoint.dir "
          "to another folder",
          dir, existing.size());
    return std::nullopt;
  }
  const auto newest =
      latest_good_checkpoint(storage, dir, [](const auto& damaged, const auto& why) {
        log::warn("checkpoint_damaged", {{"dir", damaged}, {"why", why}});
      });
  if (!newest) return std::nullopt;
  const CheckpointReader reader(storage, *newest);
  const RunConfig saved = parse_run_config(reader.info().config_toml, *newest, {});
  const auto differing = conflicts(saved, config);
  check(
      differing.empty(), ErrorCode::Config,
      "cannot resume from {}: these settings define the run and differ: {}; restore them, or start "
      "another run in another checkpoint.dir",
      *newest, fmt::join(differing, ", "));
  return newest;
}

}  // namespace ingot
