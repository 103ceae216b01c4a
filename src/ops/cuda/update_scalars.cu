#include "ops/kernels/update_scalars.h"

#include <algorithm>

#include "core/cuda/owners.h"
#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {
namespace {

__global__ void decide_kernel(ClipRule rule, double* values, int64_t* count) {
  decide(rule, values, count);
}

class CudaUpdateReader final : public UpdateReader {
 public:
  explicit CudaUpdateReader(Context& ctx) : ctx_(ctx) {}
  // A copy under way still writes to the memory.
  ~CudaUpdateReader() override { cudaEventSynchronize(copied_.get()); }

  void issue(const UpdateScalars& scalars) override {
    cuda_check(cudaMemcpyAsync(memory_.get(), scalars.values.data, sizeof(UpdateValues),
                               cudaMemcpyDeviceToHost, stream_of(ctx_)));
    cuda_check(cudaEventRecord(copied_.get(), stream_of(ctx_)));
  }
  UpdateValues read() override {
    cuda_check(cudaEventSynchronize(copied_.get()));
    UpdateValues values;
    std::copy_n(static_cast<const double*>(memory_.get()), kNumUpdateValues, values.begin());
    return values;
  }

 private:
  Context& ctx_;
  PinnedMemory memory_ = allocate_pinned(sizeof(UpdateValues));
  OwnedEvent copied_ = make_event();
};

}  // namespace

void decide_update(Context& ctx, const ClipRule& rule, const UpdateScalars& scalars) {
  launch({ctx, 1, 1}, decide_kernel, rule, scalars.values.as<double>(),
         scalars.count.as<int64_t>());
}

std::unique_ptr<UpdateReader> make_update_reader(Context& ctx) {
  return std::make_unique<CudaUpdateReader>(ctx);
}

}  // namespace ingot::cuda
