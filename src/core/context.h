// What an op needs besides its tensors. Passed explicitly; there is no ambient state.
#pragma once

#include "core/arena.h"
#include "core/device.h"
#include "core/thread_pool.h"

namespace ingot {

// One per rank. Owns nothing; whoever builds it keeps the pool and the workspace memory alive.
// All work issued through one context is ordered as by one stream.
struct Context {
  Device device;
  ThreadPool* pool = nullptr;  // CPU kernels run on it
  Workspace workspace;
};

}  // namespace ingot
