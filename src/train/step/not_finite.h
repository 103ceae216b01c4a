// Finds the first activation of a forward pass that is NaN or infinite, for the error that ends a
// run. It repeats the pass and checks each activation, so it costs nothing while all is finite.
#pragma once

#include <span>
#include <string>

#include "feed/loader.h"
#include "parallel/comm/control.h"
#include "train/step/engine.h"

namespace ingot {

// Repeats the forward passes of this rank's micro-batches of `B` samples that begin at `firsts`.
// Every rank calls it, with equally many. Returns, on all ranks, what the first rank that finds
// something found: "layer 3, attention output: not finite". Empty: everything is finite.
std::string first_not_finite(Engine& engine, Control& control, const Loader& loader, int64_t B,
                             std::span<const int64_t> firsts, Timeout timeout = kDefaultTimeout);

}  // namespace ingot
