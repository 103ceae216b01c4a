#include "plan/fit.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/compute_device.h"
#include "core/error.h"
#include "core/text/format.h"
#include "plan/resolve.h"
#include "plan/train_table.h"

namespace ingot {
namespace {

using Changes = std::vector<std::string>;  // settings as a recipe would have them

RunConfig with_changes(RunConfig config, const Changes& changes) {
  apply_toml(fmt::format("{}", fmt::join(changes, "\n")), "advice", {}, settings_of(config), "");
  return config;
}

bool is_valid(const RunConfig& config) {
  try {
    validate_open_ended(config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The largest micro-batch, at most as asked, with which all ranks fit and the settings agree with
// each other; 0 where there is none. Scratch is taken as `asked`, which does not fit, has it.
int64_t largest_micro_batch(RunConfig config, const ResolvedRun& asked, int64_t available) {
  const auto fits = [&](int64_t B) {
    config.batch.micro_batch = B;
    ResolvedRun run = lay_out(config, asked.facts, asked.threads_per_rank);
    run.shape.workspace_bytes = asked.shape.workspace_bytes;
    run.shape.head_workspace_bytes = asked.shape.head_workspace_bytes;
    return plan_memory(train_table(run)).total_bytes * asked.device_ranks <= available;
  };
  int64_t most = 0;
  for (int64_t above = asked.shape.B + 1; most + 1 < above;) {
    const int64_t middle = (most + above) / 2;
    (fits(middle) ? most : above) = middle;
  }
  for (config.batch.micro_batch = most; most > 0 && !is_valid(config);)
    config.batch.micro_batch = --most;
  return most;
}

}  // namespace

MemoryFit fit_memory(const ResolvedRun& run, int64_t free_bytes) {
  MemoryFit fit;
  fit.plan = plan_memory(train_table(run));
  const bool on_gpu = run.facts.kind == DeviceKind::Cuda;
  // What a CPU run puts away lies in the memory that it computes in.
  const int64_t put_away = on_gpu ? 0 : fit.plan.pinned_bytes + fit.plan.host_bytes;
  fit.needed_bytes = (fit.plan.total_bytes + put_away) * run.device_ranks;
  fit.reserve_bytes = on_gpu ? kCudaReserveBytes : 0;
  fit.available_bytes = free_bytes - fit.reserve_bytes;
  return fit;
}

// Layers are kept where there is memory to spare, so none is. A resumed run's batch stays as large.
std::string advice(const ResolvedRun& run, int64_t available, bool resumed) {
  const RunConfig& config = run.recorded;
  constexpr const char *kSelective = "train.recompute = \"selective\"",
                       *kFull = "train.recompute = \"full\"",
                       *kNarrowMoments = "optim.moments = \"bf16\"",
                       *kFp8 = "train.precision = \"fp8\"";
  std::vector<Changes> remedies = {{}, {kSelective}, {kFull}, {kNarrowMoments}};
  if (has_fp8(run.facts) && config.train.precision == Precision::Bf16) remedies.push_back({kFp8});
  remedies.push_back({kFull, kNarrowMoments});

  struct Choice {
    Changes changes;
    int64_t most;
    std::string text() const {
      return fmt::format("{}{}{}", most, changes.empty() ? "" : " with ",
                         fmt::join(changes, " and "));
    }
  };
  std::vector<Choice> choices;
  for (Changes& changes : remedies) {
    const bool allowed = !resumed || std::ranges::all_of(changes, may_change_on_resume);
    if (resumed && config.batch.tokens == 0)
      changes.insert(changes.begin(), fmt::format("batch.tokens = {}", full_batch_tokens(config)));
    if (config.train.keep_layers > 0) changes.insert(changes.begin(), "train.keep_layers = 0");
    const int64_t most =
        allowed ? largest_micro_batch(with_changes(config, changes), run, available) : 0;
    choices.push_back({std::move(changes), most});
    if (most == run.shape.B)
      return fmt::format("batch.micro_batch = {} fits", choices.back().text());
  }
  const Choice &as_it_is = choices.front(), &two_changes = choices.back();
  const auto largest =
      std::ranges::max_element(choices.begin(), choices.end() - 1, {}, &Choice::most);
  const Choice& best = largest->most > 0 ? *largest : two_changes;
  if (best.most == 0)
    return fmt::format("not even one sequence fits: {}",
                       resumed ? "go on where more memory is free"
                               : "choose a smaller model or a shorter batch.seq");
  if (as_it_is.most == 0) return fmt::format("batch.micro_batch = {} fits", best.text());
  return fmt::format("batch.micro_batch = {} fits{}", as_it_is.text(),
                     best.most > as_it_is.most ? ", or " + best.text() : "");
}

void check_fits_here(const ResolvedRun& run, bool resumed) {
  const MemoryFit fit = fit_memory(run, available_memory(run.device));
  if (fit.fits()) return;
  throw Error(
      ErrorCode::Memory,
      fmt::format("this run needs {} on {} and {} are free{}: {}", format_bytes(fit.needed_bytes),
                  run.device, format_bytes(fit.available_bytes),
                  fit.reserve_bytes > 0
                      ? fmt::format(" besides {} for kernels", format_bytes(fit.reserve_bytes))
                      : "",
                  advice(run, fit.available_bytes, resumed)));
}

}  // namespace ingot
