// What carries tensors between ranks that are processes.
#pragma once

namespace ingot {

// Auto: nccl where every rank computes on a GPU of its own, tcp otherwise.
enum class CommBackend { Auto, Tcp, Mpi, Nccl };

}  // namespace ingot
