// The device plane: collectives on tensors within a group of ranks. All ranks of the group issue
// the same collectives in the same order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/async/ticket.h"
#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

enum class Reduce { Sum, Max };  // Max is undefined for NaN

enum class Collective { AllReduce, AllGather, ReduceScatter, Broadcast, Send, Recv };
std::string_view name_of(Collective kind);

// One call as a backend receives it, already checked.
struct CollectiveCall {
  Collective kind = Collective::AllReduce;
  Tensor in, out;               // equal if the call works in place
  Reduce reduce = Reduce::Sum;  // of AllReduce and ReduceScatter
  int peer = -1;                // Broadcast's root, Send's target, Recv's source
  // Number within this communicator's collectives, or within its messages to or from that peer: 1,
  // 2, …, equal on all members.
  int64_t number = 0;

  std::string str() const;  // "all_reduce #7 (sum) of f32 (2, 512) on cpu"
};

// Every call returns at once. Its ticket is done when this rank's tensors have their values and may
// be written again. `after`: when inputs may be read and outputs written; a default ticket: now.
// The work runs on the communicator's own lane, in call order. Tensors are contiguous, in memory of
// device().
//
// Sums of BF16 and F16 accumulate in F32 and are rounded once; results are equal on all ranks. The
// backends of this folder add in rank order, so that results are also equal from run to run.
//
// If a rank fails, the others are released: their tickets throw ErrorCode::Comm naming it.
// Destroying a communicator abandons calls that other ranks have not joined; the destructor returns
// when no memory of this rank is in use.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // within the group
  virtual int size() const = 0;
  virtual Device device() const = 0;
  virtual bool capturable() const = 0;  // may be issued during a CUDA stream capture

  // Announces that most tensors of collectives lie in `memory`, on device(); a backend may register
  // it with its network. Call it before the first collective, on all members alike. `memory` must
  // outlive the communicator.
  virtual void expect_tensors_in(const Tensor& memory) { static_cast<void>(memory); }

  // tensor ← reduced over the ranks, in place, on every rank. All dtypes but the 8-bit floats.
  Ticket all_reduce(const Tensor& tensor, Reduce reduce, const Ticket& after);
  // whole(size·n) ← parts(n) in rank order. Any dtype. `part` may be this rank's part of `whole`.
  Ticket all_gather(const Tensor& part, const Tensor& whole, const Ticket& after);
  // part(n) ← this rank's part of whole(size·n) reduced over the ranks. Dtypes as in all_reduce.
  // `part` may be this rank's part of `whole`; the rest of `whole` does not change.
  Ticket reduce_scatter(const Tensor& whole, const Tensor& part, Reduce reduce,
                        const Ticket& after);
  // tensor ← the root's. Any dtype. For groups of tensor and context parallel ranks, which no
  // layout has yet.
  Ticket broadcast(const Tensor& tensor, int root, const Ticket& after);

  // Matched in issue order for each pair and direction; dtype and count must be equal. Neither
  // waits for collectives or for the other direction, so two ranks may both send first.
  Ticket send(const Tensor& tensor, int to, const Ticket& after);
  Ticket recv(const Tensor& tensor, int from, const Ticket& after);

 private:
  virtual Ticket start(const CollectiveCall& call, const Ticket& after) = 0;
  Ticket start_next(CollectiveCall call, const Ticket& after);  // assigns the number

  int64_t num_collectives_ = 0;
  std::map<std::pair<Collective, int>, int64_t> num_messages_;  // by direction and peer
};

// A group of one rank: every collective is the identity, run on the compute lane; capturable. The
// context must outlive it.
std::unique_ptr<Communicator> single_communicator(Context& compute);

}  // namespace ingot
