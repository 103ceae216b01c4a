#include "train/step/step_timer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/async/ticket.h"
#include "core/system/timing.h"

namespace ingot {
namespace {

constexpr size_t kListedRanks = 64;

// To the microsecond: what clocks tell, in few digits.
double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

Spread spread_of(std::span<const RankTime> ranks, double RankTime::*which) {
  std::vector<double> times;
  for (const RankTime& one : ranks) times.push_back(rounded(one.*which));
  if (times.size() <= kListedRanks) return times;
  std::ranges::sort(times);
  return Extremes{.min = times.front(), .median = times[times.size() / 2], .max = times.back()};
}

}  // namespace

StepRanks ranks_of_step(std::span<const RankTime> ranks) {
  return {.seconds = spread_of(ranks, &RankTime::seconds),
          .waits = spread_of(ranks, &RankTime::waits)};
}

double mean_of(std::span<const RankTime> ranks, double RankTime::*which) {
  double sum = 0.0;
  for (const RankTime& one : ranks) sum += one.*which;
  return rounded(sum / static_cast<double>(ranks.size()));
}

StepTimer::Spent StepTimer::now() {
  return {Clock::now(), waited_for_tickets()};
}

void StepTimer::begin() {
  begun_ = now();
  device_wait_ = data_ = {};
}

RankTime StepTimer::so_far() const {
  const Spent at = now();
  const double tickets = to_seconds(at.waits - begun_.waits + tail_waits_);
  return {.seconds = to_seconds(at.time - begun_.time + tail_),
          .waits = tickets + to_seconds(device_wait_),
          .tickets = tickets,
          .data = to_seconds(data_)};
}

void StepTimer::agreed() {
  agreed_ = now();
}

double StepTimer::step_seconds() const {
  return seconds_since(begun_.time);
}

void StepTimer::end() {
  const Spent at = now();
  tail_ = at.time - agreed_.time;
  tail_waits_ = at.waits - agreed_.waits;
}

}  // namespace ingot
