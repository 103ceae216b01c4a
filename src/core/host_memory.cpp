#include "core/host_memory.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/cuda_backend.h"

namespace ingot {
namespace {

class PlainMemory final : public HostMemory {
 public:
  explicit PlainMemory(int64_t bytes) : memory_(static_cast<size_t>(bytes)) {}

  void put(const Tensor& tensor, int64_t offset) override {
    std::memcpy(memory_.data() + offset, tensor.data, static_cast<size_t>(tensor.bytes()));
  }
  void fetch(int64_t offset, const Tensor& tensor) override {
    std::memcpy(tensor.data, memory_.data() + offset, static_cast<size_t>(tensor.bytes()));
  }
  int64_t ticket() override { return 0; }
  void wait_for(int64_t) override {}

 private:
  std::vector<std::byte> memory_;
};

}  // namespace

std::unique_ptr<HostMemory> make_host_memory(Context& ctx, int64_t bytes) {
  if (ctx.device.kind == DeviceKind::Cuda) return make_cuda_host_memory(*ctx.cuda, bytes);
  return std::make_unique<PlainMemory>(bytes);
}

}  // namespace ingot
