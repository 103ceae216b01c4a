// Whether a run fits into a device's memory.
#pragma once

#include <cstdint>

#include "plan/resolved_run.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// GPU memory besides the table: kernels, which are loaded when first launched, recorded steps and
// small tables. An estimate; the test CudaMemory checks it for small runs.
inline constexpr int64_t kCudaReserveBytes = int64_t{512} << 20;

struct MemoryFit {
  MemoryPlan plan;              // of one rank's train_table()
  int64_t needed_bytes = 0;     // by all ranks that share the device
  int64_t reserve_bytes = 0;    // kept free besides them
  int64_t available_bytes = 0;  // free memory less the reserve
  bool fits() const { return needed_bytes <= available_bytes; }
};

// Whether the run fits into `free_bytes` of its device.
MemoryFit fit_memory(const ResolvedRun& run, int64_t free_bytes);

// Throws ErrorCode::Memory, with advice.h's sentence, if the run does not fit into the memory that
// is free on its device of this machine now.
void check_fits_here(const ResolvedRun& run, bool resumed = false);

}  // namespace ingot
