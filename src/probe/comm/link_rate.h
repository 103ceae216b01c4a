// How long bytes take from each rank to each other.
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
  double latency_seconds = 0.0;  // half the way there and back of a few bytes, median
  double bytes_s = 0.0;          // of the largest message that the time allowed
  int64_t bytes = 0;             // its size
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkRate, from, to, latency_seconds, bytes_s, bytes)

struct LinkOptions {
  int64_t most_bytes = int64_t{64} << 20;  // of a message
  double seconds = 10.0;                   // of all together, about
  int most_alone = 16;  // ranks up to which a pair is measured while all others are quiet
};

// Of every ordered pair, by sender and receiver; the same on every rank. Pairs are those of a round
// of a tournament: one after another, or, of more than most_alone ranks, all of a round at once, so
// that the time grows with the ranks and not with the pairs. What is sent at once may share a link.
std::vector<LinkRate> measure_links(World& world, Context& ctx, const LinkOptions& options);

}  // namespace ingot
