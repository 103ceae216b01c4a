#include "parallel/comm/communicator.h"

#include "core/error/error.h"

namespace ingot {
namespace {

bool is_reducible(DType dtype) {
  return dtype != DType::F8E4M3 && dtype != DType::F8E5M2;
}

// What every call asks of its tensors, so that all backends refuse the same mistakes.
void check_tensor(const Communicator& comm, const Tensor& tensor) {
  check(tensor.device == comm.device(), ErrorCode::Internal,
        "collective: expected memory of {}, got {}", comm.device(), tensor);
  check(tensor.is_contiguous(), ErrorCode::Internal,
        "collective: expected a contiguous tensor, got {}", tensor);
}

void check_reducible(const Tensor& tensor) {
  check(is_reducible(tensor.dtype), ErrorCode::Internal,
        "collective: 8-bit floats are not reduced, got {}", tensor);
}

// whole is size() parts long, and the part lies outside of it or at its own place.
void check_parts(const Communicator& comm, const Tensor& part, const Tensor& whole) {
  check_tensor(comm, part);
  check_tensor(comm, whole);
  check(part.dtype == whole.dtype && whole.numel() == part.numel() * comm.size(),
        ErrorCode::Internal,
        "collective: expected {} parts of one dtype in the whole, got {} and {}", comm.size(), part,
        whole);
  const auto* begin = static_cast<const std::byte*>(whole.data);
  const auto* at = static_cast<const std::byte*>(part.data);
  const bool apart = at + part.bytes() <= begin || at >= begin + whole.bytes();
  check(apart || at == begin + comm.rank() * part.bytes(), ErrorCode::Internal,
        "collective: part {} of {} overlaps the whole elsewhere than at its own place", comm.rank(),
        whole);
}

void check_peer(const Communicator& comm, int peer) {
  check(peer >= 0 && peer < comm.size() && peer != comm.rank(), ErrorCode::Internal,
        "send, recv: expected another rank in [0, {}), got {} on rank {}", comm.size(), peer,
        comm.rank());
}

}  // namespace

std::string_view name_of(Collective kind) {
  switch (kind) {
    case Collective::AllReduce:
      return "all_reduce";
    case Collective::AllGather:
      return "all_gather";
    case Collective::ReduceScatter:
      return "reduce_scatter";
    case Collective::Broadcast:
      return "broadcast";
    case Collective::Send:
      return "send";
    case Collective::Recv:
      return "recv";
  }
  return "unknown";
}

std::string CollectiveCall::str() const {
  std::string how;
  if (kind == Collective::AllReduce || kind == Collective::ReduceScatter)
    how = reduce == Reduce::Sum ? " (sum)" : " (max)";
  else if (peer >= 0)
    how = fmt::format(" {} {}", kind == Collective::Send ? "to" : "from", peer);
  return fmt::format("{} #{}{} of {}", name_of(kind), number, how, in);
}

Ticket Communicator::start_next(CollectiveCall call, const Ticket& after) {
  const bool is_message = call.kind == Collective::Send || call.kind == Collective::Recv;
  call.number = ++(is_message ? num_messages_[{call.kind, call.peer}] : num_collectives_);
  return start(call, after);
}

Ticket Communicator::all_reduce(const Tensor& tensor, Reduce reduce, const Ticket& after) {
  check_tensor(*this, tensor);
  check_reducible(tensor);
  return start_next({Collective::AllReduce, tensor, tensor, reduce}, after);
}

Ticket Communicator::all_gather(const Tensor& part, const Tensor& whole, const Ticket& after) {
  check_parts(*this, part, whole);
  return start_next({Collective::AllGather, part, whole}, after);
}

Ticket Communicator::reduce_scatter(const Tensor& whole, const Tensor& part, Reduce reduce,
                                    const Ticket& after) {
  check_parts(*this, part, whole);
  check_reducible(whole);
  return start_next({Collective::ReduceScatter, whole, part, reduce}, after);
}

Ticket Communicator::broadcast(const Tensor& tensor, int root, const Ticket& after) {
  check_tensor(*this, tensor);
  check(root >= 0 && root < size(), ErrorCode::Internal,
        "broadcast: expected a root in [0, {}), got {}", size(), root);
  return start_next({Collective::Broadcast, tensor, tensor, Reduce::Sum, root}, after);
}

Ticket Communicator::send(const Tensor& tensor, int to, const Ticket& after) {
  check_tensor(*this, tensor);
  check_peer(*this, to);
  return start_next({Collective::Send, tensor, tensor, Reduce::Sum, to}, after);
}

Ticket Communicator::recv(const Tensor& tensor, int from, const Ticket& after) {
  check_tensor(*this, tensor);
  check_peer(*this, from);
  return start_next({Collective::Recv, tensor, tensor, Reduce::Sum, from}, after);
}

}  // namespace ingot
