#include "feed/token_counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/format.h"

namespace ingot {
namespace {

// Samples of the first epoch among the first `end` positions.
int64_t first_epoch_samples(const SampleStream& stream, int64_t end) {
  int64_t samples = 0;
  for (int64_t part = 0; part < stream.mixture().num_sources(); ++part)
    samples += std::min(stream.mixture().drawn(part, end), stream.order(part).num_samples);
  return samples;
}

}  // namespace

nlohmann::json to_json(const TokenCounts& counts) {
  return {{"trained_tokens", counts.trained},
          {"padded_tokens", counts.padded},
          {"unique_tokens", counts.unique}};
}

std::string text_of(const TokenCounts& counts) {
  return fmt::format("{} trained, {} padded, {} unique", format_count(counts.trained),
                     format_count(counts.padded), format_count(counts.unique));
}

std::string short_text(const TokenCounts& counts) {
  return fmt::format("{}, {} padded, {} unique", format_short_count(counts.trained),
                     format_short_count(counts.padded), format_short_count(counts.unique));
}

TokenCounts count_tokens(const SampleStream& stream, int64_t begin, int64_t end) {
  TokenCounts counts;
  const int64_t T = stream.T();
  if (!stream.has_equal_parts() && std::ranges::all_of(stream.parts(), [](const auto& part) {
        return part.plan->all_targets();
      })) {
    counts.trained = (end - begin) * T;
    counts.unique = (first_epoch_samples(stream, end) - first_epoch_samples(stream, begin)) * T;
    return counts;
  }
  for (int64_t counter = begin; counter < end; ++counter) {
    const SampleStream::Place place = stream.at(counter);
    const int64_t targets =
        stream.parts()[static_cast<size_t>(place.part)].plan->num_targets(place.sample);
    counts.trained += targets;
    counts.padded += T - targets;
    if (stream.is_first_use(counter, place)) counts.unique += targets;
  }
  return counts;
}

}  // namespace ingot
