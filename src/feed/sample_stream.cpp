#include "feed/sample_stream.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "core/random/permutation.h"

namespace ingot {
namespace {

KeyedPermutation permutation_of(const SampleOrder& order, int64_t epoch) {
  return {static_cast<uint64_t>(order.num_samples), order.seed, static_cast<uint64_t>(epoch)};
}

std::vector<double> weights_of(const std::vector<StreamPart>& parts) {
  std::vector<double> weights;
  for (const StreamPart& part : parts) weights.push_back(part.weight);
  return weights;
}

}  // namespace

int64_t SampleOrder::sample_at(int64_t index) const {
  const auto position = static_cast<uint64_t>(index % num_samples);
  return static_cast<int64_t>(permutation_of(*this, epoch_of(index))(position));
}

int64_t SampleOrder::index_of(int64_t sample, int64_t epoch) const {
  const auto position = permutation_of(*this, epoch).inverse(static_cast<uint64_t>(sample));
  return epoch * num_samples + static_cast<int64_t>(position);
}

SampleStream::SampleStream(std::vector<StreamPart> parts, int64_t T, int64_t seed)
    : parts_(std::move(parts)),
      T_(T),
      seed_(seed),
      mixture_(weights_of(parts_)),
      equal_parts_(parts_.size()) {
  std::map<uint64_t, std::vector<int64_t>> by_content;
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].content) by_content[*parts_[i].content].push_back(static_cast<int64_t>(i));
  for (const auto& [content, equal] : by_content) {
    if (equal.size() > 1) has_equal_parts_ = true;
    for (const int64_t part : equal)
      std::ranges::copy_if(equal, std::back_inserter(equal_parts_[static_cast<size_t>(part)]),
                           [&](int64_t other) { return other != part; });
  }
}

SampleOrder SampleStream::order(int64_t part) const {
  return {parts_[static_cast<size_t>(part)].plan->num_samples(),
          static_cast<uint64_t>(std::max<int64_t>(seed_, 0)) + static_cast<uint64_t>(part)};
}

SampleStream::Place SampleStream::at(int64_t counter) const {
  const Mixture::Draw draw = mixture_.at(counter);
  const SampleOrder of_part = order(draw.source);
  return {draw.source, of_part.epoch_of(draw.index),
          seed_ < 0 ? draw.index % of_part.num_samples : of_part.sample_at(draw.index)};
}

bool SampleStream::is_first_use(int64_t counter, const Place& place) const {
  if (place.epoch > 0) return false;
  return std::ranges::all_of(equal_parts_[static_cast<size_t>(place.part)], [&](int64_t other) {
    return mixture_.position(other, order(other).index_of(place.sample, 0)) > counter;
  });
}

int64_t SampleStream::one_pass() const {
  int64_t end = std::numeric_limits<int64_t>::max();
  for (int64_t part = 0; part < mixture_.num_sources(); ++part)
    end = std::min(end, mixture_.position(part, order(part).num_samples));
  return end;
}

int64_t SampleStream::num_target_bytes(int64_t begin, int64_t end) const {
  int64_t bytes = 0;
  std::vector<Piece> pieces;
  for (int64_t counter = begin; counter < end; ++counter) {
    const Place place = at(counter);
    const StreamPart& part = parts_[static_cast<size_t>(place.part)];
    part.plan->pieces(place.sample, pieces);
    for (const Piece& piece : pieces) {
      const int64_t last = piece.begin + piece.length + (piece.continues ? 1 : 0);
      const int64_t counted = part.source->num_bytes(piece.begin + 1, last);
      if (counted < 0) return -1;
      bytes += counted;
    }
  }
  return bytes;
}

std::string SampleStream::describe() const {
  double total = 0.0;
  for (const StreamPart& part : parts_) total += part.weight;
  std::vector<std::string> lines;
  for (const StreamPart& part : parts_)
    lines.push_back(
        (parts_.size() > 1 ? fmt::format("{:.3g}% ", 100.0 * part.weight / total) : "") +
        fmt::format("{}: {}", part.source->describe(), part.plan->describe()));
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace ingot
