// Counts what the first samples of a stream contain: samples, tokens and documents of each source.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "feed/data_identity.h"
#include "feed/run_steps.h"
#include "feed/sample_stream.h"

namespace ingot {

struct SourceSeen {
  int64_t samples = 0;
  double epochs = 0.0;
  int64_t repeated = 0;  // samples used more than once
};

// For each source, in order; computed from the records, without the data.
std::vector<SourceSeen> sources_seen(const DataIdentity& data, int64_t num_samples);
// Samples that were used more than once, by one source or by several of equal content, which have
// the same samples in different orders. For the latter the time grows with num_samples.
int64_t samples_repeated(const DataIdentity& data, int64_t num_samples);
// For each source, the first source of equal content; usually the source itself.
std::vector<size_t> first_of_equal_content(const DataIdentity& data);

// The documents of one source with at least one token in a used sample, and the tokens used.
class DocumentsSeen {
 public:
  // Walks the first `samples` of the part's stream, at most one epoch. Time grows with `samples`.
  // Memory is one bit per document, and two bytes more if the source knows their origins.
  // `progress` is called now and then with the share done.
  DocumentsSeen(const SampleStream& stream, int64_t part, int64_t samples,
                const std::function<void(double)>& progress);

  int64_t num_documents() const { return num_documents_; }
  int64_t num_tokens() const { return num_tokens_; }  // inputs; each epoch counts
  // Name and tokens of each origin, if the source knows origins.
  const std::vector<std::pair<std::string, int64_t>>& origins() const { return origins_; }
  bool contains(int64_t document) const { return seen_[static_cast<size_t>(document)]; }

 private:
  std::vector<bool> seen_;
  int64_t num_documents_ = 0;
  int64_t num_tokens_ = 0;
  std::vector<std::pair<std::string, int64_t>> origins_;
};

// One use of one sample.
struct Use {
  int64_t step = 0;
  int64_t epoch = 0;
  int64_t sample = 0;  // of the source's plan
  bool lost = false;   // the step was discarded later
};

// When the tokens [begin, end) of a part's source were trained on, by step.
std::vector<Use> uses_of(const RunSteps& run, const SampleStream& stream, int64_t part,
                         int64_t begin, int64_t end);

}  // namespace ingot
