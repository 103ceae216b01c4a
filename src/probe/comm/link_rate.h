// Measures latency and rate from each rank to each other.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "parallel/comm/world.h"

namespace ingot {

struct LinkRate {
  int from = 0, to = 0;
  double latency_seconds = 0.0;  // half a round trip of a few bytes, median
  double bytes_s = 0.0;          // with the largest message that time allowed
  int64_t bytes = 0;             // its size
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkRate, from, to, latency_seconds, bytes_s, bytes)

struct LinkOptions {
  int64_t most_bytes = int64_t{64} << 20;  // of a message
  double seconds = 10.0;                   // approximately, for all pairs
  int most_alone = 16;  // up to this many ranks, pairs are measured one at a time
};

// Rates of every ordered pair, by sender and receiver; the same on every rank. Pairs form the
// rounds of a tournament. They are measured one after another or, with more than most_alone ranks,
// a whole round at once, so that the time grows with the ranks and not with the pairs; concurrent
// pairs may share a link.
std::vector<LinkRate> measure_links(World& world, Context& ctx, const LinkOptions& options);

}  // namespace ingot
