// One clock for the CPU and the GPU.
#pragma once

#include <functional>
#include <vector>

#include "core/device/context.h"

namespace ingot {

// Seconds that one call of `body` takes. On the CPU one call is timed. On a GPU a call only queues
// work, so as many are timed as fill 5 ms, between two waits for the device.
double seconds_of(Context& ctx, const std::function<void()>& body);

// The least of `repeats` such times, after one call to warm up.
double best_seconds(Context& ctx, int repeats, const std::function<void()>& body);

double median_of(std::vector<double> values);

}  // namespace ingot
