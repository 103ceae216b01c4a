#include "spec/run/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error/error.h"

namespace ingot {
namespace {

// How far `at` is from `begin` to `end`, in [0, 1]; 1 at an end that is not after the beginning.
double fraction(int64_t at, int64_t begin, int64_t end) {
  if (at >= end) return 1.0;
  if (at <= begin) return 0.0;
  return static_cast<double>(at - begin) / static_cast<double>(end - begin);
}

double fall(double final_fraction, double share) {
  return 1.0 - (1.0 - final_fraction) * share;
}

// Learning rate over its peak, warm-up aside.
double shape(const ScheduleConfig& config, int64_t at, int64_t horizon) {
  switch (config.kind) {
    case ScheduleKind::Constant:
      return 1.0;
    case ScheduleKind::Linear:
      return fall(config.final_fraction, fraction(at, config.warmup, horizon));
    case ScheduleKind::Cosine: {
      const double angle = std::numbers::pi * fraction(at, config.warmup, horizon);
      return fall(config.final_fraction, 0.5 * (1.0 - std::cos(angle)));
    }
    case ScheduleKind::Wsd:
      return config.decay == 0
                 ? 1.0
                 : fall(config.final_fraction, fraction(at, horizon - config.decay, horizon));
  }
  throw Error(ErrorCode::Internal, "schedule: unknown kind");
}

}  // namespace

double learning_rate(const OptimConfig& config, const Progress& progress, const Horizon& horizon) {
  const ScheduleConfig& schedule = config.schedule;
  check(schedule.warmup_fraction == 0 && schedule.decay_fraction == 0, ErrorCode::Internal,
        "schedule: expected its lengths to be decided, got fractions");
  const bool in_tokens = schedule.unit == ScheduleUnit::Tokens;
  const int64_t at = in_tokens ? progress.tokens : progress.step;
  const int64_t end = in_tokens ? horizon.tokens : horizon.steps;
  check(end > 0 || schedule.kind == ScheduleKind::Constant, ErrorCode::Config,
        "schedule: expected a horizon in {} after 0, got {}; set train.steps or train.total_tokens",
        in_tokens ? "tokens" : "steps", end);
  double warm = 1.0;
  if (at < schedule.warmup)
    warm = static_cast<double>(at + 1) / static_cast<double>(schedule.warmup);
  // The smaller of both, so that a warm-up that reaches into wsd's decay cannot raise it again.
  return config.lr * std::min(warm, shape(schedule, at, end));
}

}  // namespace ingot
