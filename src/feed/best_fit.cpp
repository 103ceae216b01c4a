#include "feed/best_fit.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "core/error/error.h"
#include "core/random/random.h"
#include "core/text/format.h"

namespace ingot {
namespace {

// A set of numbers below a bound that finds the next one at or above any: one bit each, and above
// every 64 bits one that says whether there are any.
class NextSet {
 public:
  explicit NextSet(size_t bound) {
    for (size_t n = bound; levels_.empty() || n > 1;) {
      n = (n + 63) / 64;
      levels_.emplace_back(n);
    }
  }

  void insert(size_t number) {
    for (auto& level : levels_) {
      level[number / 64] |= uint64_t{1} << number % 64;
      number /= 64;
    }
  }
  void erase(size_t number) {
    for (auto& level : levels_) {
      level[number / 64] &= ~(uint64_t{1} << number % 64);
      if (level[number / 64] != 0) return;
      number /= 64;
    }
  }
  // kNone when there is none.
  size_t at_or_above(size_t number) const {
    for (size_t depth = 0; depth < levels_.size(); ++depth) {
      if (number / 64 >= levels_[depth].size()) return kNone;
      const uint64_t rest = levels_[depth][number / 64] >> number % 64;
      if (rest == 0) {
        number = number / 64 + 1;
        continue;
      }
      number += static_cast<size_t>(std::countr_zero(rest));
      while (depth-- > 0)
        number = number * 64 + static_cast<size_t>(std::countr_zero(levels_[depth][number]));
      return number;
    }
    return kNone;
  }
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

 private:
  std::vector<std::vector<uint64_t>> levels_;
};

// Samples under construction by the room they have left; of equal room the latest comes first.
class OpenSamples {
 public:
  explicit OpenSamples(int64_t T)
      : newest_(static_cast<size_t>(T) + 1, kEnd), rooms_(newest_.size()) {}

  // The fullest sample with room for `length` tokens, a new one when there is none.
  uint32_t take(int64_t T, int64_t length) {
    size_t room = rooms_.at_or_above(static_cast<size_t>(length));
    uint32_t sample = static_cast<uint32_t>(older_.size());
    if (room == NextSet::kNone) {
      room = static_cast<size_t>(T);
      older_.push_back(kEnd);
    } else {
      sample = newest_[room];
      newest_[room] = older_[sample];
      if (newest_[room] == kEnd) rooms_.erase(room);
    }
    const size_t left = room - static_cast<size_t>(length);
    if (left > 0) {
      older_[sample] = newest_[left];
      newest_[left] = sample;
      rooms_.insert(left);
    }
    return sample;
  }
  size_t size() const { return older_.size(); }

 private:
  static constexpr uint32_t kEnd = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> newest_;  // by room
  std::vector<uint32_t> older_;   // by sample: the next one with the same room
  NextSet rooms_;
};

}  // namespace

BestFitPlan::BestFitPlan(const TokenSource& source, int64_t T, uint64_t seed)
    : source_(source), T_(T) {
  check(source.num_documents() < std::numeric_limits<uint32_t>::max(), ErrorCode::Data,
        "{}: best-fit packing takes fewer than 2^32 documents, got {}; use concat",
        source.describe(), source.num_documents());
  place(sorted_remainders(seed));
  check(num_samples() > 0, ErrorCode::Data, "{}: not one sample: there is no token",
        source.describe());
}

std::vector<uint32_t> BestFitPlan::sorted_remainders(uint64_t seed) {
  std::vector<uint32_t> begin(static_cast<size_t>(T_) + 1);  // by T - remainder
  for (int64_t d = 0; d < source_.num_documents(); ++d) {
    const int64_t tokens = length(d), remainder = tokens % T_;
    if (tokens >= T_) {
      long_documents_.push_back({d, num_full_});
      num_full_ += tokens / T_;
    }
    if (remainder > 0) ++begin[static_cast<size_t>(T_ - remainder + 1)];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> documents(begin.back()), next = begin;
  for (int64_t d = 0; d < source_.num_documents(); ++d)
    if (const int64_t remainder = length(d) % T_; remainder > 0)
      documents[next[static_cast<size_t>(T_ - remainder)]++] = static_cast<uint32_t>(d);

  const RandomStream random(seed, Purpose::SampleOrder, tensor_id("best_fit"));
  for (size_t group = 0; group + 1 < begin.size(); ++group)
    for (uint32_t i = begin[group + 1]; i > begin[group] + 1; --i) {
      const uint64_t choices = i - begin[group];
      const uint64_t chosen = random.bits(i - 1) * choices >> 32;
      std::swap(documents[i - 1], documents[begin[group] + chosen]);
    }
  return documents;
}

void BestFitPlan::place(const std::vector<uint32_t>& documents) {
  OpenSamples open(T_);
  std::vector<uint32_t> sample_of(documents.size());
  for (size_t i = 0; i < documents.size(); ++i)
    sample_of[i] = open.take(T_, length(documents[i]) % T_);
  mixed_begin_.assign(open.size() + 1, 0);
  for (const uint32_t sample : sample_of) ++mixed_begin_[sample + 1];
  std::partial_sum(mixed_begin_.begin(), mixed_begin_.end(), mixed_begin_.begin());
  mixed_.resize(documents.size());
  std::vector<uint32_t> next = mixed_begin_;
  for (size_t i = 0; i < documents.size(); ++i) mixed_[next[sample_of[i]]++] = documents[i];
}

void BestFitPlan::pieces(int64_t sample, std::vector<Piece>& out) const {
  out.clear();
  if (sample < num_full_) {
    const auto after = std::upper_bound(
        long_documents_.begin(), long_documents_.end(), sample,
        [](int64_t wanted, const LongDocument& d) { return wanted < d.first_sample; });
    const LongDocument& d = *(after - 1);
    const int64_t begin = source_.document_begin(d.document) + (sample - d.first_sample) * T_;
    out.push_back({begin, T_, begin + T_ < source_.document_begin(d.document + 1)});
    return;
  }
  const auto mixed = static_cast<size_t>(sample - num_full_);
  for (uint32_t i = mixed_begin_[mixed]; i < mixed_begin_[mixed + 1]; ++i) {
    const int64_t end = source_.document_begin(int64_t{mixed_[i]} + 1);
    const int64_t remainder = length(mixed_[i]) % T_;
    out.push_back({end - remainder, remainder, /*continues=*/false});
  }
}

int64_t BestFitPlan::num_targets(int64_t sample) const {
  std::vector<Piece> found;
  pieces(sample, found);
  int64_t targets = 0;
  for (const Piece& piece : found) targets += piece.length - (piece.continues ? 0 : 1);
  return targets;
}

// Nothing leads from a document to the sample of its remainder, so the samples are walked: this
// serves questions about single documents, and a table would cost every run 4 bytes a document.
std::vector<int64_t> BestFitPlan::samples_of(int64_t begin, int64_t end) const {
  std::vector<int64_t> samples;
  std::vector<Piece> found;
  for (int64_t sample = 0; sample < num_samples(); ++sample) {
    pieces(sample, found);
    if (std::any_of(found.begin(), found.end(), [&](const Piece& piece) {
          return piece.begin < end && begin < piece.begin + piece.length;
        }))
      samples.push_back(sample);
  }
  return samples;
}

double BestFitPlan::padding_share() const {
  const auto room = static_cast<double>(num_samples() * T_);
  return 1.0 - static_cast<double>(source_.num_tokens()) / room;
}

std::string BestFitPlan::describe() const {
  return fmt::format("{} samples of {} tokens, best fit, {} padding", format_count(num_samples()),
                     T_, format_percent(padding_share(), 2));
}

}  // namespace ingot
