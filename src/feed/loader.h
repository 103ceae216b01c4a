// Micro-batches for a rank. The only state is one counter: the samples that all ranks took so far.
#pragma once

#include <cstdint>
#include <vector>

#include "feed/sample_stream.h"

namespace ingot {

inline constexpr int32_t kPaddedTarget = -1;  // no target: padding, or the end of a document

struct Batch {
  int64_t counter = 0;  // position of its first sample in the stream
  int64_t B = 0, T = 0;
  std::vector<int32_t> tokens;          // (B, T); padding is id 0
  std::vector<int32_t> targets;         // (B, T)
  std::vector<int32_t> document_start;  // (B, T), or empty: where each document begins
};

class Loader {
 public:
  // `stream` must outlive the loader. document_mask: also fills Batch::document_start.
  Loader(const SampleStream& stream, bool document_mask)
      : stream_(stream), document_mask_(document_mask) {}

  const SampleStream& stream() const { return stream_; }
  // Fills `batch` with the samples at positions [counter, counter + B) of the stream. Each rank
  // asks for its own positions; the loader does not know about ranks. Thread-safe.
  void fill(int64_t counter, int64_t B, Batch& batch) const;

 private:
  const SampleStream& stream_;
  bool document_mask_;
};

}  // namespace ingot
