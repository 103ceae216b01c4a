// GPU kernels of ops/update_scalars.h; arguments are checked by the caller. All work goes to the
// context's stream.
#pragma once

#include <memory>

#include "core/context.h"
#include "ops/update_scalars.h"

namespace ingot::cuda {

void decide_update(Context& ctx, const ClipRule& rule, const UpdateScalars& scalars);
std::unique_ptr<UpdateReader> make_update_reader(Context& ctx);

}  // namespace ingot::cuda
