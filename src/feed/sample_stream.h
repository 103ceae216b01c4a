// The endless stream of samples that a run walks: the sample at position c is a function of
// c.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "feed/mixture.h"
#include "feed/sample_plan.h"

namespace ingot {

// The order of one source's samples: epoch e visits each sample once, in the order of
// KeyedPermutation(n, seed, e).
struct SampleOrder {
  int64_t num_samples = 0;
  uint64_t seed = 0;
  // The sample at position `index` of the source's endless stream of epochs.
  int64_t sample_at(int64_t index) const;
  int64_t index_of(int64_t sample, int64_t epoch) const;  // its inverse
  int64_t epoch_of(int64_t index) const { return index / num_samples; }
};

// One source of a stream.
struct StreamPart {
  const TokenSource* source = nullptr;  // must outlive the stream
  std::unique_ptr<SamplePlan> plan;
  double weight = 1.0;
  // TokenSource::content_hash(). Parts of equal content have the same samples. Not set: unique.
  std::optional<uint64_t> content = {};
};

class SampleStream {
 public:
  // Part k is shuffled with seed + k; seed < 0: samples are in file order (validation).
  SampleStream(std::vector<StreamPart> parts, int64_t T, int64_t seed);

  struct Place {
    int64_t part = 0;
    int64_t epoch = 0;
    int64_t sample = 0;  // of the part's plan
  };
  Place at(int64_t counter) const;

  int64_t T() const { return T_; }
  const std::vector<StreamPart>& parts() const { return parts_; }
  const Mixture& mixture() const { return mixture_; }
  SampleOrder order(int64_t part) const;
  // Whether several parts have the same samples.
  bool has_equal_parts() const { return has_equal_parts_; }
  // Whether the sample at `counter` was at no earlier position. `place` must be at(counter).
  bool is_first_use(int64_t counter, const Place& place) const;
  // How many positions come before any source begins its second epoch.
  int64_t one_pass() const;
  // UTF-8 bytes of the targets of the samples at positions [begin, end); -1 if a source does not
  // know them.
  int64_t num_target_bytes(int64_t begin, int64_t end) const;
  std::string describe() const;

 private:
  std::vector<StreamPart> parts_;
  int64_t T_;
  int64_t seed_;
  Mixture mixture_;
  std::vector<std::vector<int64_t>> equal_parts_;  // [part]: other parts with the same samples
  bool has_equal_parts_ = false;
};

}  // namespace ingot
