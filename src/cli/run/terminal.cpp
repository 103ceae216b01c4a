#include "cli/run/terminal.h"

#include <fmt/format.h>

#include <utility>

#include "core/error/error.h"

namespace ingot::cli {

namespace {

constexpr int kMostMeasurements = 3;

}  // namespace

TerminalProgress::TerminalProgress(const RunConfig& config, std::function<PeakFlops()> peak)
    : peak_(std::move(peak)),
      format_(config.model, config.batch.seq, peak_()),
      log_every_(config.train.log_every) {}

void TerminalProgress::take(const RunRecord& record) {
  std::visit([this](const auto& of) { show(of); }, record);
}

void TerminalProgress::begin(const RunFacts& facts) {
  total_steps_ = facts.total_steps;
  line_.keep(format_.start(facts));
}

void TerminalProgress::check_peak(const StepReport& report) {
  if (times_measured_ == kMostMeasurements || !format_.is_above_peak(report)) return;
  ++times_measured_;
  try {
    line_.keep(format_.measured_again(peak_()));
  } catch (const Error&) {
    times_measured_ = kMostMeasurements;  // a GPU has no memory left for it
  }
}

void TerminalProgress::show(const StepReport& report) {
  check_peak(report);
  const std::string line = format_.step(report);
  const bool stays = log_every_ > 0 ? report.step % log_every_ == 0 : report.step == total_steps_;
  const bool is_due = std::exchange(first_, false) || line_.is_due();
  if (stays)
    line_.keep(line);
  else if (is_due && (line_.is_live() || log_every_ == 0))
    line_.show(line);
}

void TerminalProgress::show(const EvalReport& report) {
  line_.keep(format_.eval(report));
}

void TerminalProgress::show(const ScoreReport& report) {
  line_.keep(format_.score(report));
}

void TerminalProgress::show(const SavedReport& report) {
  line_.keep(fmt::format("saved    {}", report.dir));
}

void TerminalProgress::show(const LostReport& report) {
  line_.keep(
      fmt::format("lost     rank {} after step {}: {}", report.rank, report.step, report.why));
}

}  // namespace ingot::cli
