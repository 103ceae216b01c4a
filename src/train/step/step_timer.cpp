#include "train/step/step_timer.h"

#include "core/async/ticket.h"

namespace ingot {
namespace {

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

StepTimer::Spent StepTimer::now() {
  return {Clock::now(), waited_for_tickets()};
}

void StepTimer::begin() {
  begun_ = now();
  device_wait_ = {};
}

RankTime StepTimer::so_far() const {
  const Spent at = now();
  return {seconds(at.time - begun_.time + tail_),
          seconds(at.waits - begun_.waits + tail_waits_ + device_wait_)};
}

void StepTimer::met() {
  met_ = now();
}

double StepTimer::step_seconds() const {
  return seconds(Clock::now() - begun_.time);
}

void StepTimer::end() {
  const Spent at = now();
  tail_ = at.time - met_.time;
  tail_waits_ = at.waits - met_.waits;
}

}  // namespace ingot
