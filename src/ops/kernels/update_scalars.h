// Kernels of ops/update/update_scalars.h on a GPU; on the CPU one thread decides.
#pragma once

#include <memory>

#include "ops/common/kernel.h"
#include "ops/update/update_scalars.h"

namespace ingot {

INGOT_CUDA_KERNEL(void, decide_update,
                  (Context & ctx, const ClipRule& rule, const UpdateScalars& scalars))
INGOT_CUDA_KERNEL(std::unique_ptr<UpdateReader>, make_update_reader, (Context & ctx))

}  // namespace ingot
