// Packing: which tokens of a source stand in which sample. A plan is fixed for a run; the order in
// which its samples are visited is another matter (sample_stream.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shards/token_source.h"
#include "spec/run/run_config.h"

namespace ingot {

// `length` tokens from `begin` on as inputs, each the next one's predecessor; the target of the
// last is the token after it, if `continues`, else none.
struct Piece {
  int64_t begin = 0;
  int64_t length = 0;
  bool continues = false;
  bool operator==(const Piece&) const = default;
};

// Thread-safe once built.
class SamplePlan {
 public:
  virtual ~SamplePlan() = default;
  virtual int64_t num_samples() const = 0;
  // Its pieces from left to right, at most T tokens; what is missing to T is padding.
  virtual void pieces(int64_t sample, std::vector<Piece>& out) const = 0;
  // Samples that hold a token of [begin, end), ascending.
  virtual std::vector<int64_t> samples_of(int64_t begin, int64_t end) const = 0;
  virtual int64_t num_targets(int64_t sample) const = 0;  // of T; the others have none
  virtual bool all_targets() const = 0;                   // whether that is T for every sample
  virtual std::string describe() const = 0;  // "1,200 samples of 512 tokens, 0.3% padding"
};

// The source must outlive its plan.
//  - concat: sample s is the tokens [s·T, s·T + T], cut wherever that is. Each token is an input
//    once and a target once; the last (tokens − 1) mod T tokens are in no sample.
//  - best_fit: best_fit.h.
// Throws ErrorCode::Data when there is not one sample.
std::unique_ptr<SamplePlan> make_plan(Packing packing, const TokenSource& source, int64_t T,
                                      uint64_t seed);

}  // namespace ingot
