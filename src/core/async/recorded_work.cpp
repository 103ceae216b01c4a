#include "core/async/recorded_work.h"

#include "core/device/cuda_backend.h"

namespace ingot {
namespace {

class CalledWork final : public RecordedWork {
 public:
  bool run(const std::string&, const std::function<void()>& issue) override {
    issue();
    return true;
  }
};

}  // namespace

std::unique_ptr<RecordedWork> make_recorded_work(Context& ctx) {
  if (ctx.device.kind == DeviceKind::Cuda) return make_cuda_recorded_work(*ctx.cuda);
  return std::make_unique<CalledWork>();
}

}  // namespace ingot
