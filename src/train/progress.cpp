#include "train/progress.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text/format.h"
#include "spec/flops.h"

namespace ingot {

ProgressFormat::ProgressFormat(const ModelConfig& model, int64_t T, double peak_flops)
    : flops_per_token_(train_flops_per_token(model, T, AttentionFlops::Causal)),
      peak_flops_(peak_flops) {}

std::string ProgressFormat::start(const RunFacts& facts) const {
  std::string text =
      fmt::format("model    {} parameters, {} in memory{}\n", format_count(facts.parameters),
                  format_bytes(facts.allocated_bytes * facts.ranks),
                  facts.ranks > 1 ? fmt::format(" over {} ranks", facts.ranks) : "");
  text +=
      fmt::format("device   {}, {}, {} threads\n", facts.device, facts.precision, facts.threads);
  text += fmt::format("train    {}\n", facts.train_data);
  text += fmt::format("valid    {}\n", facts.valid_data);
  text += fmt::format("plan     {} steps, {} tokens", format_count(facts.total_steps),
                      format_count(facts.total_tokens));
  if (peak_flops_ > 0) text += fmt::format(", measured peak {:.0f} GFLOP/s", peak_flops_ / 1e9);
  text += fmt::format("\nfolder   {}", facts.run_dir);
  if (facts.first_step > 0) text += fmt::format(" (resumed after step {})", facts.first_step);
  return text;
}

std::string ProgressFormat::step(const StepReport& r) {
  smoothed_rate_ = smoothed_rate_ == 0.0 ? r.tokens_per_second
                                         : 0.95 * smoothed_rate_ + 0.05 * r.tokens_per_second;
  std::string text = fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  norm {:.3f}", r.step,
                                 r.total_steps, r.loss, r.lr, r.grad_norm);
  if (r.loss_scale)
    text += fmt::format("  scale {:g}{}", *r.loss_scale, r.skipped ? " (skipped)" : "");
  text += fmt::format("  {} tok/s", format_count(std::llround(r.tokens_per_second)));
  if (peak_flops_ > 0)
    text += fmt::format("  MFU {}",
                        format_percent(r.tokens_per_second * flops_per_token_ / peak_flops_));
  const auto left = static_cast<double>(r.total_tokens - r.tokens);
  return text + fmt::format("  ETA {}", format_duration(left / smoothed_rate_));
}

std::string ProgressFormat::eval(const EvalReport& r) const {
  std::string text = fmt::format("valid    step {}  loss {:.4f}", r.step, r.loss);
  if (r.bits_per_byte) text += fmt::format("  {:.4f} bits per byte", *r.bits_per_byte);
  return text + fmt::format("  ({} tokens)", format_count(r.tokens));
}

}  // namespace ingot
