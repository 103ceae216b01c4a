// A stream of one source.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "feed/sample_stream.h"

namespace ingot::test {

inline SampleStream single_stream(const TokenSource& source, Packing packing, int64_t T,
                                  int64_t seed) {
  std::vector<StreamPart> parts;
  parts.push_back(
      {&source, make_plan(packing, source, T, static_cast<uint64_t>(std::max<int64_t>(seed, 0)))});
  return {std::move(parts), T, seed};
}

}  // namespace ingot::test
