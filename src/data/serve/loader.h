// Micro-batches for a rank. The only state is one counter: samples taken so far by all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/serve/token_source.h"

namespace ingot {

// Sample s is tokens [s·T, s·T + T] of the source: T inputs and, shifted by one, T targets. Epoch e
// visits every sample once, in the order of KeyedPermutation(n, seed, e).
struct SampleOrder {
  int64_t num_samples = 0;
  uint64_t seed = 0;
  // Which sample stands at position `counter` of the endless stream of epochs.
  int64_t sample_at(int64_t counter) const;
  int64_t epoch_of(int64_t counter) const { return counter / num_samples; }
};

int64_t num_samples(const TokenSource& source, int64_t T);  // throws when there is not even one

struct Batch {
  int64_t B = 0, T = 0;
  std::vector<int32_t> tokens;          // (B, T)
  std::vector<int32_t> targets;         // (B, T)
  std::vector<int32_t> document_start;  // (B, T); empty unless asked for
};

class Loader {
 public:
  // `source` must outlive the loader. seed < 0: samples in file order (validation).
  Loader(const TokenSource& source, int64_t T, int64_t seed, bool document_mask);

  const SampleOrder& order() const { return order_; }
  // Fills `batch` with the samples at positions [counter, counter + B) of the stream. A rank of R
  // asks for its own positions; the loader knows nothing of ranks.
  void fill(int64_t counter, int64_t B, Batch& batch) const;

 private:
  const TokenSource& source_;
  int64_t T_;
  bool in_file_order_;
  bool document_mask_;
  SampleOrder order_;
};

}  // namespace ingot
