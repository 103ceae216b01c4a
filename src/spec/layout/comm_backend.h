// The transport of tensors between ranks that are processes.
#pragma once

namespace ingot {

// Auto: nccl if every rank computes on its own GPU, tcp otherwise.
enum class CommBackend { Auto, Tcp, Mpi, Nccl };

}  // namespace ingot
