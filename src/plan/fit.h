// Whether a run fits into a device's memory.
#pragma once

#include <cstdint>

#include "plan/resolved_run.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// What lies on a GPU beside the table: kernels, loaded when first launched, recorded steps, small
// tables. An estimate, which CudaMemory's test holds small runs to.
inline constexpr int64_t kCudaReserveBytes = int64_t{512} << 20;

struct MemoryFit {
  MemoryPlan plan;              // of train_table(), for one rank
  int64_t needed_bytes = 0;     // of all ranks, which share the device
  int64_t reserve_bytes = 0;    // left beside them
  int64_t available_bytes = 0;  // what is free, less the reserve
  bool fits() const { return needed_bytes <= available_bytes; }
};

// Into `free_bytes` of the run's device.
MemoryFit fit_memory(const ResolvedRun& run, int64_t free_bytes);

// Throws ErrorCode::Memory, with advice.h's sentence, where the run does not fit into what is free
// on its device, of this machine, now.
void check_fits_here(const ResolvedRun& run, bool resumed = false);

}  // namespace ingot
