#include "data/serve/loader.h"

#include <algorithm>

#include "core/error.h"
#include "data/serve/permutation.h"

namespace ingot {

int64_t SampleOrder::sample_at(int64_t counter) const {
  const KeyedPermutation permutation(static_cast<uint64_t>(num_samples), seed,
                                     static_cast<uint64_t>(epoch_of(counter)));
  return static_cast<int64_t>(permutation(static_cast<uint64_t>(counter % num_samples)));
}

int64_t num_samples(const TokenSource& source, int64_t T) {
  check(T > 0, ErrorCode::Config, "context length: expected at least 1, got {}", T);
  check(source.num_tokens() > T, ErrorCode::Data,
        "{}: not one sample: expected at least {} tokens for a context of {}, got {}; give more "
        "text or a shorter context",
        source.describe(), T + 1, T, source.num_tokens());
  return (source.num_tokens() - 1) / T;
}

Loader::Loader(const TokenSource& source, int64_t T, int64_t seed, bool document_mask)
    : source_(source),
      T_(T),
      in_file_order_(seed < 0),
      document_mask_(document_mask),
      order_{num_samples(source, T), static_cast<uint64_t>(std::max<int64_t>(seed, 0))} {}

void Loader::fill(int64_t counter, int64_t B, Batch& batch) const {
  check(counter >= 0 && B > 0, ErrorCode::Internal, "batch of {} samples at counter {}", B,
        counter);
  const auto numel = static_cast<size_t>(B * T_);
  batch.B = B;
  batch.T = T_;
  batch.tokens.resize(numel);
  batch.targets.resize(numel);
  batch.document_start.resize(document_mask_ ? numel : 0);
  std::vector<int32_t> row(static_cast<size_t>(T_) + 1);
  for (int64_t b = 0; b < B; ++b) {
    const int64_t position = counter + b;
    const int64_t sample =
        in_file_order_ ? position % order_.num_samples : order_.sample_at(position);
    const int64_t begin = sample * T_;
    source_.read(begin, row);
    std::copy_n(row.begin(), T_, batch.tokens.begin() + b * T_);
    std::copy_n(row.begin() + 1, T_, batch.targets.begin() + b * T_);
    if (!document_mask_) continue;
    // From the right, one look-up per document rather than per token.
    int32_t* starts = batch.document_start.data() + b * T_;  // (T)
    for (int64_t end = T_; end > 0;) {
      const int64_t start = std::max<int64_t>(0, source_.document_start(begin + end - 1) - begin);
      std::fill(starts + start, starts + end, static_cast<int32_t>(start));
      end = start;
    }
  }
}

}  // namespace ingot
