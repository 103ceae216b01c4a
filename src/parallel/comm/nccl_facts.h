// Which NCCL carries a run's tensors, for its record.
#pragma once

#include <functional>
#include <string>

namespace ingot {

// An environment variable's value, empty where it is not set. NCCL reads the environment by itself;
// the program does so in cli alone.
using ReadVariable = std::function<std::string(const char* name)>;

// "NCCL 2.28.9 for CUDA 13.0; NCCL_ALGO=Ring NCCL_PROTO=Simple": the library that is loaded and
// what is set of the variables that choose how it computes and by which way. Throws
// ErrorCode::Missing where there is none.
std::string nccl_facts(const ReadVariable& variable);

}  // namespace ingot
