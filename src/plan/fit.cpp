#include "plan/fit.h"

#include <fmt/format.h>

#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "plan/advice.h"
#include "plan/train_table.h"

namespace ingot {

MemoryFit fit_memory(const ResolvedRun& run, int64_t free_bytes) {
  MemoryFit fit;
  fit.plan = plan_memory(train_table(run));
  const bool on_gpu = run.place.facts.kind == DeviceKind::Cuda;
  // What a CPU run offloads lies in the memory that it computes in.
  const int64_t offloaded = on_gpu ? 0 : fit.plan.pinned_bytes + fit.plan.host_bytes;
  fit.needed_bytes = (fit.plan.total_bytes + offloaded) * run.place.device_ranks;
  fit.reserve_bytes = on_gpu ? kCudaReserveBytes : 0;
  fit.available_bytes = free_bytes - fit.reserve_bytes;
  return fit;
}

void check_fits_here(const ResolvedRun& run, bool resumed) {
  const MemoryFit fit = fit_memory(run, available_memory(run.place.device));
  if (fit.fits()) return;
  throw Error(
      ErrorCode::Memory,
      fmt::format("this run needs {} on {} and {} are free{}; {}", format_bytes(fit.needed_bytes),
                  run.place.device, format_bytes(fit.available_bytes),
                  fit.reserve_bytes > 0
                      ? fmt::format(" besides {} for kernels", format_bytes(fit.reserve_bytes))
                      : "",
                  sentence_of(memory_advice(run, fit.available_bytes, resumed))));
}

}  // namespace ingot
