// What an op needs besides its tensors. Passed explicitly; there is no ambient state.
#pragma once

#include "core/device/arena.h"
#include "core/device/device_facts.h"
#include "core/device/shared_choices.h"
#include "core/device/thread_pool.h"
#include "core/tensor/device.h"

namespace ingot {

class CudaContext;  // core/cuda/cuda_context.h

// One per rank. Owns nothing: its creator keeps the pool, the CUDA context, the choices and the
// workspace memory alive. Work issued through one context runs in stream order. On a GPU an op
// returns before its kernels have run; only ops that return a number to the host wait.
struct Context {
  Device device;
  ThreadPool* pool = nullptr;   // CPU kernels run on it
  CudaContext* cuda = nullptr;  // set when device is a GPU
  Workspace workspace;
  DeviceFacts facts = {};  // of `device`; the ops' scratch sizes follow from them
  // Equal inputs give equal bits. False lets GPU kernels sum in completion order where that is
  // faster (the backward pass of attention).
  bool deterministic = true;
  // F32 GEMMs may round their operands to TF32 (10 mantissa bits) where that is faster on a GPU.
  bool tf32 = false;
  // Shared by the ranks that make the same calls in the same order; null: this rank chooses alone.
  SharedChoices* choices = nullptr;
};

}  // namespace ingot
