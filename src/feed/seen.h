// What the first samples of a stream amount to: samples, tokens and documents of each source.
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
  int64_t repeated = 0;  // samples used twice or more often
};

// From the records alone, for each source in order.
std::vector<SourceSeen> sources_seen(const DataIdentity& data, int64_t num_samples);
// Samples that were used more than once, by one source or by several of equal content: those have
// the same samples, in orders of their own. Of the latter each use is looked at.
int64_t samples_repeated(const DataIdentity& data, int64_t num_samples);
// For each source the first one of equal content, often itself.
std::vector<size_t> first_of_equal_content(const DataIdentity& data);

// Documents of one source with at least one token among the samples used, and tokens.
class DocumentsSeen {
 public:
  // Walks the first `samples` of the part's stream, at most one epoch of them: time grows with
  // samples, memory is one bit a document, and two bytes more where the source knows the origins of
  // documents. `progress` is called now and then with the share done.
  DocumentsSeen(const SampleStream& stream, int64_t part, int64_t samples,
                const std::function<void(double)>& progress);

  int64_t num_documents() const { return num_documents_; }
  int64_t num_tokens() const { return num_tokens_; }  // inputs, with the multiplicity of epochs
  // By origin, where the source knows those: name and tokens.
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
  bool lost = false;   // in a step that was discarded afterwards
};

// When the tokens [begin, end) of a part's source were trained on, by step.
std::vector<Use> uses_of(const RunSteps& run, const SampleStream& stream, int64_t part,
                         int64_t begin, int64_t end);

}  // namespace ingot
