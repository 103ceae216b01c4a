// Packing: which tokens of a source each sample holds. A plan is fixed for a run; sample_stream.h
// decides the order in which its samples are visited.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shards/token_source.h"
#include "spec/run/run_config.h"

namespace ingot {

// `length` consecutive tokens from `begin` on, as inputs. The target of each is the token after it;
// the last has a target only if `continues`.
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
  // The sample's pieces from left to right, at most T tokens; the rest up to T is padding.
  virtual void pieces(int64_t sample, std::vector<Piece>& out) const = 0;
  // Samples that hold a token of [begin, end), ascending.
  virtual std::vector<int64_t> samples_of(int64_t begin, int64_t end) const = 0;
  virtual int64_t num_targets(int64_t sample) const = 0;  // positions with a target, at most T
  virtual bool all_targets() const = 0;                   // every sample has T targets
  virtual std::string describe() const = 0;  // "1,200 samples of 512 tokens, 0.3% padding"
};

// The source must outlive its plan.
//  - concat: sample s is the tokens [s·T, s·T + T], wherever documents end. Each token is an input
//    once and a target once; the last (tokens − 1) mod T tokens are in no sample.
//  - best_fit: best_fit.h.
// Throws ErrorCode::Data if the source is too short for one sample.
std::unique_ptr<SamplePlan> make_plan(Packing packing, const TokenSource& source, int64_t T,
                                      uint64_t seed);

}  // namespace ingot
