// The CUDA backend of a build without one.
#include "core/cuda_facts.h"

namespace ingot {

std::optional<CudaFacts> cuda_facts() {
  return std::nullopt;
}

}  // namespace ingot
