// Tensor descriptors for Hopper's TMA unit.
#pragma once

#include <cuda.h>

#include <array>

#include "core/cuda/cuda_context.h"
#include "core/tensor/tensor.h"
#include "ops/cuda/common/device.cuh"

namespace ingot::cuda {

// One per CudaContext.
class HopperMaps {
 public:
  explicit HopperMaps(CudaContext& cuda) {
#ifdef INGOT_SM90A
    if (cuda.properties().major != 9) return;
    cudaDriverEntryPointQueryResult found{};
    void* function = nullptr;
    cuda_check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &found));
    if (found == cudaDriverEntryPointSuccess)
      encode_ = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
#else
    static_cast<void>(cuda);
#endif
  }

  // Whether the GPU and its driver support them.
  bool available() const { return encode_ != nullptr; }

  // A bf16 tensor for the TMA unit, innermost dimension first. Strides are in elements, without the
  // innermost one, which is 1. It is copied in boxes of the given extents.
  template <size_t kRank>
  CUtensorMap map(const Tensor& tensor, const std::array<int64_t, kRank>& shape,
                  const std::array<int64_t, kRank - 1>& strides,
                  const std::array<int, kRank>& box) const {
    std::array<cuuint64_t, kRank> extents;
    std::array<cuuint64_t, kRank - 1> bytes;
    std::array<cuuint32_t, kRank> box_extents, steps;
    for (size_t i = 0; i < kRank; ++i) {
      extents[i] = static_cast<cuuint64_t>(shape[i]);
      box_extents[i] = static_cast<cuuint32_t>(box[i]);
      steps[i] = 1;
      if (i > 0) bytes[i - 1] = static_cast<cuuint64_t>(strides[i - 1]) * sizeof(__nv_bfloat16);
    }
    CUtensorMap map;
    const CUresult status = encode_(
        &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kRank, tensor.data, extents.data(), bytes.data(),
        box_extents.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(status == CUDA_SUCCESS, ErrorCode::Internal, "the GPU's copy unit refused {} (error {})",
          tensor, static_cast<int>(status));
    return map;
  }

 private:
  decltype(&cuTensorMapEncodeTiled) encode_ = nullptr;
};

}  // namespace ingot::cuda
