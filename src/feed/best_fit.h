// Best-fit packing: a document that fits into a sample is kept whole.
#pragma once

#include <cstdint>
#include <vector>

#include "feed/sample_plan.h"

namespace ingot {

// A document of L tokens gives floor(L/T) full samples and, if L mod T > 0, a remainder: its last
// L mod T tokens. Remainders are placed from long to short, each into the fullest sample that has
// room for it (best-fit decreasing); the seed decides the order of equal lengths. So the plan is a
// pure function of (document lengths, T, seed). Every token is an input exactly once, and every
// token but a document's first is a target exactly once. A document's last token has no target:
// the next token in the sample belongs to another document.
//
// Time O(documents · log T). Memory: 4 bytes per document and 4 per sample, and 8 more per document
// while building.
class BestFitPlan final : public SamplePlan {
 public:
  // Throws ErrorCode::Data if there are no tokens, or 2^32 documents or more.
  BestFitPlan(const TokenSource& source, int64_t T, uint64_t seed);

  int64_t num_samples() const override { return num_full_ + num_mixed(); }
  void pieces(int64_t sample, std::vector<Piece>& out) const override;
  std::vector<int64_t> samples_of(int64_t begin, int64_t end) const override;
  int64_t num_targets(int64_t sample) const override;
  bool all_targets() const override { return false; }
  std::string describe() const override;

  double padding_share() const;

 private:
  struct LongDocument {
    int64_t document;
    int64_t first_sample;  // the first of its full samples
  };

  int64_t num_mixed() const { return static_cast<int64_t>(mixed_begin_.size()) - 1; }
  int64_t length(int64_t document) const {
    return source_.document_begin(document + 1) - source_.document_begin(document);
  }
  // Documents with a remainder, longest remainder first, equal lengths shuffled.
  std::vector<uint32_t> sorted_remainders(uint64_t seed);
  void place(const std::vector<uint32_t>& documents);

  const TokenSource& source_;
  int64_t T_;
  // Samples [0, num_full_) are full ones; the later samples hold remainders.
  int64_t num_full_ = 0;
  std::vector<LongDocument> long_documents_;
  // Mixed sample i holds the remainders of documents mixed_[mixed_begin_[i] … mixed_begin_[i + 1]).
  std::vector<uint32_t> mixed_;
  std::vector<uint32_t> mixed_begin_;
};

}  // namespace ingot
