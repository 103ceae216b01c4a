// The CUDA backend of a build without one.
#include "core/cuda_backend.h"
#include "core/cuda_facts.h"
#include "core/error.h"
#include "core/host_memory.h"
#include "core/recorded_work.h"

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

std::shared_ptr<CudaContext> make_cuda_context(int, const std::string&) {
  refuse();
}
void synchronize(CudaContext&) {
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
std::unique_ptr<HostCopies> make_cuda_host_copies(CudaContext&) {
  refuse();
}
std::unique_ptr<RecordedWork> make_cuda_recorded_work(CudaContext&) {
  refuse();
}

}  // namespace ingot
