// Which activation of a forward pass was the first to be NaN or infinite, for the error that ends a
// run: the pass is made again, looking at each. Nothing of it runs while all is finite.
#pragma once

#include <span>
#include <string>

#include "feed/loader.h"
#include "parallel/comm/control.h"
#include "train/step/engine.h"

namespace ingot {

// Forward passes of the micro-batches of `B` samples that begin at `firsts`, this rank's. Every
// rank calls it, with as many. "layer 3, attention output: not finite", of the first rank that
// finds some, the same on all; empty: everything is finite.
std::string first_not_finite(Engine& engine, Control& control, const Loader& loader, int64_t B,
                             std::span<const int64_t> firsts, Timeout timeout = kDefaultTimeout);

}  // namespace ingot
