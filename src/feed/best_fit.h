// Best-fit packing: documents are kept whole where they fit.
#pragma once

#include <cstdint>
#include <vector>

#include "feed/sample_plan.h"

namespace ingot {

// A document of L tokens gives floor(L/T) full samples and, if L mod T > 0, its last L mod T tokens
// as a remainder. Remainders are placed from long to short, each into the fullest sample that has
// room for it (best-fit decreasing); equal lengths in an order that the seed decides. So the plan
// is a pure function of (document lengths, T, seed), every token is an input exactly once, and
// every token but a document's first is a target exactly once. A last token has no target: what
// follows it in the sample is another document.
//
// Time O(documents · log T); memory 4 bytes a document and 4 a sample, 8 more a document while
// building.
class BestFitPlan final : public SamplePlan {
 public:
  // Throws ErrorCode::Data when there is no token, or 2^32 documents or more.
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
    int64_t first_sample;  // of its full ones
  };

  int64_t num_mixed() const { return static_cast<int64_t>(mixed_begin_.size()) - 1; }
  int64_t length(int64_t document) const {
    return source_.document_begin(document + 1) - source_.document_begin(document);
  }
  // Documents that leave a remainder, by descending length of it, equal ones shuffled.
  std::vector<uint32_t> sorted_remainders(uint64_t seed);
  void place(const std::vector<uint32_t>& documents);

  const TokenSource& source_;
  int64_t T_;
  // Samples [0, num_full_) are the full ones, those behind hold remainders.
  int64_t num_full_ = 0;
  std::vector<LongDocument> long_documents_;
  std::vector<uint32_t> mixed_;        // documents whose remainders stand in mixed sample i:
  std::vector<uint32_t> mixed_begin_;  // [mixed_begin_[i], mixed_begin_[i + 1])
};

}  // namespace ingot
