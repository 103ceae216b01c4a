// Ranks that share a GPU, in a build without CUDA.
#include "core/error/error.h"
#include "parallel/comm/local/local_group.h"

namespace ingot {

void exchange_on_gpu(Context&, int, const std::vector<Offer>&) {
  throw Error(ErrorCode::Missing,
              "this build has no CUDA backend (no_cuda): build with ./run cuda, or use the CPU "
              "(--device cpu, or --set system.device=cpu)");
}

}  // namespace ingot
