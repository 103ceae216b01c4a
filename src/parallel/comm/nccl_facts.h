// A description of the NCCL in use, for a run's record.
#pragma once

#include <functional>
#include <string>

namespace ingot {

// Returns an environment variable's value, empty if unset. NCCL reads the environment itself; in
// this program only cli does.
using ReadVariable = std::function<std::string(const char* name)>;

// "NCCL 2.28.9; NCCL_MAX_CTAS=2 NCCL_PROTO=Simple NCCL_ALGO as it chooses": the loaded library, and
// the set variables that decide how it computes. Algorithm and protocol decide the order of sums
// and are always listed; if unset, NCCL chooses them by message size. Throws ErrorCode::Missing if
// there is no NCCL.
std::string nccl_facts(const ReadVariable& variable);

}  // namespace ingot
