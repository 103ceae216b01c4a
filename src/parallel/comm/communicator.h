// The device plane: collectives among the ranks of one group, on tensors. Every rank of the group
// issues the same collectives in the same order.
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

enum class Reduce { Sum, Max };  // what Max makes of NaN is not defined

enum class Collective { AllReduce, AllGather, ReduceScatter, Broadcast, Send, Recv };
std::string_view name_of(Collective kind);

// One call, as a backend gets it: checked.
struct CollectiveCall {
  Collective kind = Collective::AllReduce;
  Tensor in, out;               // the same one where the call works in place
  Reduce reduce = Reduce::Sum;  // of AllReduce and ReduceScatter
  int peer = -1;                // Broadcast's root, Send's target, Recv's source
  // Of this communicator's collectives, or of its messages to or from that peer: 1, 2, … the same
  // on all members.
  int64_t number = 0;

  std::string str() const;  // "all_reduce #7 (sum) of f32 (2, 512) on cpu"
};

// Every call returns at once; its ticket says when this rank's tensors have their values and may be
// written again. `after`: when they are ready to be read (and outputs to be written); a default
// ticket says that they are. Work is carried out on a lane of the communicator's own, in the order
// of the calls. Tensors are contiguous, in memory of device().
//
// Sums of BF16 and F16 accumulate in F32 and are rounded once; results are equal on all ranks. The
// backends of this folder add in rank order, so that results are also equal from run to run.
//
// A rank that fails releases the others: their tickets carry ErrorCode::Comm naming it. Destroying
// a communicator abandons the calls that other ranks have not joined; it returns when no memory of
// this rank is in use.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // within the group
  virtual int size() const = 0;
  virtual Device device() const = 0;
  virtual bool capturable() const = 0;  // may be issued while a CUDA stream is captured

  // Tensors of collectives will mostly lie in `memory`, of device(), which outlives this: a backend
  // may make it ready for its network. Before the first call, the same on all members.
  virtual void expect_tensors_in(const Tensor& memory) { static_cast<void>(memory); }

  // tensor ← reduced over the ranks, on every rank, in place. All dtypes but the 8-bit floats.
  Ticket all_reduce(const Tensor& tensor, Reduce reduce, const Ticket& after);
  // whole(size·n) ← parts(n) in rank order. Any dtype. `part` may be its own place in `whole`.
  Ticket all_gather(const Tensor& part, const Tensor& whole, const Ticket& after);
  // part(n) ← this rank's part of whole(size·n) reduced over the ranks. Dtypes as all_reduce.
  // `part` may be its own place in `whole`; the rest of `whole` stays as it is.
  Ticket reduce_scatter(const Tensor& whole, const Tensor& part, Reduce reduce,
                        const Ticket& after);
  // tensor ← the root's. Any dtype.
  Ticket broadcast(const Tensor& tensor, int root, const Ticket& after);

  // Matched in the order of issue for each pair and direction; dtype and count must be equal.
  // Neither waits for collectives or for the other direction, so two ranks may both send first.
  Ticket send(const Tensor& tensor, int to, const Ticket& after);
  Ticket recv(const Tensor& tensor, int from, const Ticket& after);

 private:
  virtual Ticket start(const CollectiveCall& call, const Ticket& after) = 0;
  Ticket start_next(CollectiveCall call, const Ticket& after);  // with its number

  int64_t num_collectives_ = 0;
  std::map<std::pair<Collective, int>, int64_t> num_messages_;  // by direction and peer
};

// A group of one: every collective is the identity, carried out on the compute lane; capturable.
// The context must outlive it.
std::unique_ptr<Communicator> single_communicator(Context& compute);

}  // namespace ingot
