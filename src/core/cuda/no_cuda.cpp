// The CUDA backend of a build without one.
#include "core/async/recorded_work.h"
#include "core/async/stream_event.h"
#include "core/device/cuda_backend.h"
#include "core/device/cuda_facts.h"
#include "core/device/weights_at_rest.h"
#include "core/error/error.h"

namespace ingot {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::Missing,
              "this build has no CUDA backend (no_cuda): build with ./run cuda, or use the CPU "
              "(--device cpu, or --set system.device=cpu)");
}

}  // namespace

std::optional<CudaFacts> cuda_facts() {
  return std::nullopt;
}

std::optional<GpuIdentity> gpu_identity(int) {
  return std::nullopt;
}

std::shared_ptr<CudaContext> make_cuda_context(int, const std::string&) {
  refuse();
}
void make_current(const CudaContext&) {
  refuse();
}
void synchronize(CudaContext&) {
  refuse();
}
std::shared_ptr<StreamEvent> record_event(CudaContext&) {
  refuse();
}
void spin(CudaContext&, std::chrono::microseconds) {
  refuse();
}
void* allocate_cuda_memory(int, int64_t) {
  refuse();
}
void free_cuda_memory(int, void*) noexcept {}
void* allocate_pinned_memory(int64_t) {
  refuse();
}
void free_pinned_memory(void*) noexcept {}
int64_t available_cuda_memory(int) {
  refuse();
}
void copy_bytes(CudaContext&, void*, const void*, int64_t) {
  refuse();
}
std::unique_ptr<RecordedWork> make_cuda_recorded_work(CudaContext&) {
  refuse();
}
WeightsAtRest::WeightsAtRest(const Context&) : cuda_(nullptr) {}
WeightsAtRest::~WeightsAtRest() = default;

}  // namespace ingot
