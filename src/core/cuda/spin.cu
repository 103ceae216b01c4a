#include "core/cuda/launch.h"
#include "core/device/cuda_backend.h"

namespace ingot {
namespace {

__global__ void spin_kernel(uint64_t nanoseconds) {
  const auto now = [] {
    uint64_t time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  };
  const uint64_t end = now() + nanoseconds;
  while (now() < end) __nanosleep(200);
}

}  // namespace

void spin(CudaContext& context, std::chrono::microseconds time) {
  Context ctx;
  ctx.cuda = &context;
  launch({ctx, 1, 1}, spin_kernel, static_cast<uint64_t>(time.count()) * 1000);
}

}  // namespace ingot
