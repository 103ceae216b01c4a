// GPU kernels of ops/update/update_scalars.h; on the CPU one thread computes the scalars.
#pragma once

#include <memory>

#include "ops/common/kernel.h"
#include "ops/update/update_scalars.h"

namespace ingot {

INGOT_CUDA_KERNEL(void, decide_update,
                  (Context & ctx, const ClipRule& rule, const UpdateScalars& scalars))
INGOT_CUDA_KERNEL(std::unique_ptr<UpdateReader>, make_update_reader, (Context & ctx))

}  // namespace ingot
