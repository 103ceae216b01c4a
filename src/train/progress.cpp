#include "train/progress.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "spec/flops.h"

namespace ingot {

std::string with_commas(int64_t value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return value < 0 ? "-" + digits : digits;
}

std::string human_duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02d} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02d} min", whole / 3600, whole % 3600 / 60);
}

std::string human_bytes(int64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

ProgressFormat::ProgressFormat(const ModelConfig& model, int64_t T, double peak_flops)
    : flops_per_token_(train_flops_per_token(model, T, AttentionFlops::Causal)),
      peak_flops_(peak_flops) {}

std::string ProgressFormat::start(const RunFacts& facts) const {
  std::string text =
      fmt::format("model    {} parameters, {} in memory{}\n", with_commas(facts.parameters),
                  human_bytes(facts.allocated_bytes * facts.ranks),
                  facts.ranks > 1 ? fmt::format(" over {} ranks", facts.ranks) : "");
  text +=
      fmt::format("device   {}, {}, {} threads\n", facts.device, facts.precision, facts.threads);
  text += fmt::format("train    {}\n", facts.train_data);
  text += fmt::format("valid    {}\n", facts.valid_data);
  text += fmt::format("plan     {} steps, {} tokens", with_commas(facts.total_steps),
                      with_commas(facts.total_tokens));
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
  text += fmt::format("  {} tok/s", with_commas(std::llround(r.tokens_per_second)));
  if (peak_flops_ > 0)
    text +=
        fmt::format("  MFU {:.1f}%", 100 * r.tokens_per_second * flops_per_token_ / peak_flops_);
  const auto left = static_cast<double>(r.total_tokens - r.tokens);
  return text + fmt::format("  ETA {}", human_duration(left / smoothed_rate_));
}

std::string ProgressFormat::eval(const EvalReport& r) const {
  std::string text = fmt::format("valid    step {}  loss {:.4f}", r.step, r.loss);
  if (r.bits_per_byte) text += fmt::format("  {:.4f} bits per byte", *r.bits_per_byte);
  return text + fmt::format("  ({} tokens)", with_commas(r.tokens));
}

}  // namespace ingot
