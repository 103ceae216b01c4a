// Collectives among the ranks of a run. Every rank calls the same collectives in the same order.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace ingot {

// Collectives take tensors, so counts and element types cannot be mixed up. Sums are taken in rank
// order and accumulate in F32 (F64 for F64), so results are deterministic and equal on all ranks.
// A rank that fails releases the others: they throw ErrorCode::Comm naming the failed rank.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual void barrier() = 0;
  // tensor ← Σ over ranks, on every rank, in place. F32 or F64.
  virtual void all_reduce_sum(const Tensor& tensor) = 0;
  // whole(size·n) ← parts(n) in rank order. Any dtype; `part` may lie inside `whole` at its own
  // place.
  virtual void all_gather(const Tensor& part, const Tensor& whole) = 0;
  // part(n) ← this rank's part of Σ whole(size·n). F32 or F64. part must not overlap whole.
  virtual void reduce_scatter_sum(const Tensor& whole, const Tensor& part) = 0;
  virtual void broadcast(const Tensor& tensor, int root) = 0;
};

// The one-rank communicator: every collective is the identity.
std::unique_ptr<Communicator> single_communicator();

// Runs body(communicator) on `ranks` threads and joins them; the first failure (lowest blast reach:
// the rank that failed itself, not those it released) is rethrown with its rank.
void run_local_ranks(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace ingot
