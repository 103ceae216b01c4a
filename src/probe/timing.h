// Timing on the CPU and on a GPU.
#pragma once

#include <functional>

#include "core/device/context.h"

namespace ingot {

// Seconds per call of `body`. On the CPU one call is timed. On a GPU calls are asynchronous: times
// as many calls as fill 5 ms, between two synchronisations.
double seconds_of(Context& ctx, const std::function<void()>& body);

// The minimum of `repeats` such times, after one warm-up call.
double best_seconds(Context& ctx, int repeats, const std::function<void()>& body);

}  // namespace ingot
