#include "core/cuda/cuda_context.h"

#include <cstring>

#include "core/cuda/launch.h"
#include "core/cuda/owners.h"
#include "core/device/cuda_backend.h"
#include "core/device/weights_at_rest.h"
#include "core/error/error.h"

namespace ingot {
namespace {

// The first CUDA call of a program: what a user can get wrong shows here.
void check_device(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  int driver = 0;  // stays 0 where there is none
  cudaDriverGetVersion(&driver);
  check(
      status != cudaErrorInsufficientDriver || driver == 0, ErrorCode::Missing,
      "the NVIDIA driver is too old for this program: it serves CUDA {}.{}, expected {}.{}; update "
      "it, or use the CPU (--device cpu, or --set system.device=cpu)",
      driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  check(status == cudaSuccess && count > 0, ErrorCode::Missing,
        "no GPU was found ({}): check nvidia-smi, or use the CPU (--device cpu, or --set "
        "system.device=cpu)",
        driver == 0 ? "there is no NVIDIA driver" : cudaGetErrorString(status));
  check(device < count, ErrorCode::Missing, "there is no GPU {}: this machine has {}", device,
        count);
}

}  // namespace

void cuda_check(cudaError_t status, std::source_location place) {
  if (status == cudaSuccess) [[likely]]
    return;
  // Code for one of these GPUs does not run on all later ones: sm_90a's runs on no other.
  check(status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction,
        ErrorCode::Missing,
        "this program holds no code for this GPU: build it on this machine (./run cuda), or name "
        "the GPU's compute capability in INGOT_CUDA_ARCHITECTURES; or use the CPU (--device cpu, "
        "or --set system.device=cpu)");
  const ErrorCode code =
      status == cudaErrorMemoryAllocation ? ErrorCode::Memory : ErrorCode::Device;
  throw Error(code, fmt::format("CUDA: {}", cudaGetErrorString(status)), place);
}

void allow_shared_memory(const Context& ctx, const void* kernel) {
  cudaFuncAttributes own{};
  cuda_check(cudaFuncGetAttributes(&own, kernel));
  const size_t most = ctx.cuda->properties().sharedMemPerBlockOptin - own.sharedSizeBytes;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most)));
}

CudaContext::CudaContext(int device, std::string cache_dir)
    : device_(device), cache_dir_(std::move(cache_dir)) {
  check_device(device);
  cuda_check(cudaSetDevice(device));
  cuda_check(cudaGetDeviceProperties(&properties_, device));
  stream_ = make_stream();
  scalars_ = allocate_pinned(kScalarBytes);
}

void CudaContext::synchronize() const {
  cuda_check(cudaStreamSynchronize(stream()));
}

std::shared_ptr<CudaContext> make_cuda_context(int device, const std::string& cache_dir) {
  return std::make_shared<CudaContext>(device, cache_dir);
}

void make_current(const CudaContext& context) {
  cuda_check(cudaSetDevice(context.device()));
}

void synchronize(CudaContext& context) {
  context.synchronize();
}

void* allocate_cuda_memory(int device, int64_t bytes) {
  cuda_check(cudaSetDevice(device));
  void* data = nullptr;
  const size_t size = static_cast<size_t>(bytes > 0 ? bytes : 1);
  const cudaError_t status = cudaMalloc(&data, size);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // an error that was answered must not meet the next check
    throw Error(ErrorCode::Memory,
                fmt::format("not enough GPU memory: expected {} bytes, {} are free; lower "
                            "batch.micro_batch or set train.recompute = \"full\"",
                            bytes, available_cuda_memory(device)));
  }
  cuda_check(status);
  // On a stream of its own: the device as a whole cannot be waited for while another rank records.
  const OwnedStream stream = make_stream();
  cuda_check(cudaMemsetAsync(data, 0, size, stream.get()));
  cuda_check(cudaStreamSynchronize(stream.get()));
  return data;
}

void free_cuda_memory(int device, void* data) noexcept {
  cudaSetDevice(device);
  cudaFree(data);
}

void* allocate_pinned_memory(int64_t bytes) {
  PinnedMemory memory = allocate_pinned(bytes);
  std::memset(memory.get(), 0, static_cast<size_t>(bytes));
  return memory.release();
}

void free_pinned_memory(void* data) noexcept {
  FreePinned()(data);
}

void copy_bytes(CudaContext& context, void* to, const void* from, int64_t bytes) {
  cuda_check(
      cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, context.stream()));
}

int64_t available_cuda_memory(int device) {
  cuda_check(cudaSetDevice(device));
  size_t available = 0, total = 0;
  cuda_check(cudaMemGetInfo(&available, &total));
  return static_cast<int64_t>(available);
}

WeightsAtRest::WeightsAtRest(const Context& ctx) : cuda_(ctx.cuda) {
  if (cuda_ == nullptr) return;
  before_ = cuda_->weights_at_rest();
  cuda_->set_weights_at_rest(true);
}

WeightsAtRest::~WeightsAtRest() {
  if (cuda_ != nullptr) cuda_->set_weights_at_rest(before_);
}

}  // namespace ingot
