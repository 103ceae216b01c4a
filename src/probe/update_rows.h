// Writes an update's scalars to the device from the host: for cases, benches and tests of single
// ops.
#pragma once

#include "core/device/arena.h"
#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/update/adamw.h"

namespace ingot {

struct UpdateAt {
  int64_t step = 1;  // counts updates from 1
  double grad_scale = 1.0;
  bool skipped = false;
};

// Both write to `memory`, (kUpdateRowsBytes) U8 on ctx's device, and return views of it.
inline constexpr int64_t kUpdateRowsBytes = 4 * kArenaAlignment;
UpdateScalars update_scalars_at(Context& ctx, const Tensor& memory, const UpdateAt& at);
// `settings` with its tensors filled in.
AdamWStep adamw_step_at(Context& ctx, const Tensor& memory, AdamWStep settings, const UpdateAt& at);

}  // namespace ingot
