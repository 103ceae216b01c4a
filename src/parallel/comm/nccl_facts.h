// Which NCCL carries a run's tensors, for its record.
#pragma once

#include <functional>
#include <string>

namespace ingot {

// An environment variable's value, empty where it is not set. NCCL reads the environment by itself;
// the program does so in cli alone.
using ReadVariable = std::function<std::string(const char* name)>;

// "NCCL 2.28.9; NCCL_MAX_CTAS=2 NCCL_PROTO=Simple NCCL_ALGO as it chooses": the library that is
// loaded, and what is set of the variables that choose how it computes and by which way. Algorithm
// and protocol, which NCCL chooses by the size of a call unless they are set, decide the order of
// sums and are always there. Throws
// ErrorCode::Missing where there is none.
std::string nccl_facts(const ReadVariable& variable);

}  // namespace ingot
