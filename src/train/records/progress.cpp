#include "train/records/progress.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/text/format.h"
#include "feed/token_counts.h"
#include "spec/model/flops.h"
#include "train/start/agreement.h"

namespace ingot {

std::string loss_text(double loss) {
  return fmt::format("loss {:.4f} (ppl {:.4g})", loss, std::exp(loss));
}

namespace {

// "3 processes: ranks 0, 1 on a, rank 2 on b; on cores of their own"
std::string text_of(const std::vector<RankPlace>& places) {
  std::vector<std::string> hosts;  // by the first rank there
  std::map<std::string, std::vector<int>> ranks;
  for (size_t rank = 0; rank < places.size(); ++rank) {
    auto& there = ranks[places[rank].host];
    if (there.empty()) hosts.push_back(places[rank].host);
    there.push_back(static_cast<int>(rank));
  }
  std::vector<std::string> parts;
  for (const std::string& host : hosts)
    parts.push_back(fmt::format("{} on {}", named_ranks(ranks[host]), host));
  const bool bound = std::ranges::none_of(places, &std::string::empty, &RankPlace::cores);
  return fmt::format("{} processes: {}{}", places.size(), fmt::join(parts, ", "),
                     bound ? "; on cores of their own" : "");
}

}  // namespace

ProgressFormat::ProgressFormat(const ModelConfig& model, int64_t T, PeakFlops peak)
    : flops_per_token_(train_flops_per_token(model, T, AttentionFlops::Causal)),
      peak_(std::move(peak)) {}

std::string ProgressFormat::start(const RunFacts& facts) {
  total_steps_ = facts.total_steps;
  total_tokens_ = facts.total_tokens;
  const StartReport& start = facts.start;
  std::string text =
      fmt::format("model    {} parameters, {} in memory{}\n", format_count(facts.parameters),
                  format_bytes(start.bytes * start.ranks),
                  start.ranks > 1 ? fmt::format(" over {} ranks", start.ranks) : "");
  text += fmt::format("device   {}, {}, {} threads\n", start.device.value_or(""),
                      start.precision.value_or(""), facts.threads);
  if (!start.places.empty()) text += fmt::format("ranks    {}\n", text_of(start.places));
  text += fmt::format("train    {}\n", facts.train_data);
  text += fmt::format("valid    {}\n", facts.valid_data);
  text += fmt::format("plan     {} steps, {} tokens", format_count(facts.total_steps),
                      format_count(facts.total_tokens));
  text += fmt::format("\nepochs   {}", epochs_text(facts.epochs));
  if (const std::string peak = text_of(peak_); !peak.empty())
    text += fmt::format("\npeak     {}", peak);
  text += fmt::format("\nfolder   {}", facts.run_dir);
  if (start.step > 0) text += fmt::format(" (resumed after step {})", start.step);
  if (!facts.nothing_to_resume.empty())
    text += fmt::format("\nresume   {}", facts.nothing_to_resume);
  return text;
}

std::string ProgressFormat::step(const StepReport& r) {
  const double rate = r.tokens_per_second.value_or(0.0);
  smoothed_rate_ = smoothed_rate_ == 0.0 ? rate : 0.95 * smoothed_rate_ + 0.05 * rate;
  std::string text = fmt::format("step {}/{}  {}  lr {:.2e}  norm {:.3f}", r.step, total_steps_,
                                 loss_text(r.loss), r.lr, r.grad_norm);
  if (r.loss_scale)
    text += fmt::format("  scale {:g}{}", *r.loss_scale, r.skipped == true ? " (skipped)" : "");
  text += fmt::format("  {} tok/s", format_count(std::llround(rate)));
  const std::string mfu = mfu_text(rate * flops_per_token_, peak_);
  if (!mfu.empty()) text += "  MFU " + mfu;
  if (const auto counts = counts_in(r)) text += fmt::format("  tokens {}", short_text(*counts));
  if (const auto& slow = r.slow_rank)
    text += fmt::format("  slow rank {}{} ({:.2f}x)", slow->rank,
                        slow->host ? " on " + *slow->host : "", slow->factor);
  const auto left = static_cast<double>(total_tokens_ - r.tokens);
  return text + fmt::format("  ETA {}", format_duration(left / smoothed_rate_));
}

bool ProgressFormat::is_above_peak(const StepReport& report) const {
  return peak_.measured > 0 &&
         report.tokens_per_second.value_or(0.0) * flops_per_token_ > peak_.measured;
}

std::string ProgressFormat::measured_again(const PeakFlops& peak) {
  if (peak.measured > peak_.measured) peak_ = peak;
  return fmt::format("peak     {}; a step was faster, so it was measured again", text_of(peak_));
}

std::string ProgressFormat::eval(const EvalReport& r) const {
  std::string text = fmt::format("valid    step {}  {}", r.step, loss_text(r.loss));
  if (r.bits_per_byte) text += fmt::format("  {:.4f} bits per byte", *r.bits_per_byte);
  text += fmt::format("  ({} tokens)", format_count(r.tokens));
  for (const SourceLoss& source : r.sources) {
    text += fmt::format("\n         {}  {}", source.name, loss_text(source.loss));
    if (source.bits_per_byte) text += fmt::format("  {:.4f} bits per byte", *source.bits_per_byte);
    text += fmt::format("  ({} tokens)", format_count(source.tokens));
  }
  return text;
}

std::string ProgressFormat::score(const ScoreReport& r) const {
  std::string text =
      fmt::format("score    step {}  {}  {} {:.4f}", r.step, r.task, r.metric, r.value);
  if (r.error) text += fmt::format(" ± {:.4f}", *r.error);
  if (r.low && r.high) text += fmt::format(" (95 %: {:.4f} to {:.4f})", *r.low, *r.high);
  text += fmt::format("  ({} {}", format_count(r.items), r.low ? "tasks" : "items");
  if (r.cut_prompts)
    text += fmt::format("; {} prompts beyond the context lost their beginning",
                        format_count(*r.cut_prompts));
  return text + ")";
}

}  // namespace ingot
