// What an op needs besides its tensors. Passed explicitly; there is no ambient state.
#pragma once

#include "core/device/arena.h"
#include "core/device/device_facts.h"
#include "core/device/shared_choices.h"
#include "core/device/thread_pool.h"
#include "core/tensor/device.h"

namespace ingot {

class CudaContext;  // core/cuda/cuda_context.h

// One per rank. Owns nothing; whoever builds it keeps the pool, the CUDA context, the choices and
// the workspace memory alive. All work issued through one context is ordered as by one stream: on a
// GPU an op returns before its kernels ran, and only what hands a number to the host waits for
// them.
struct Context {
  Device device;
  ThreadPool* pool = nullptr;   // CPU kernels run on it
  CudaContext* cuda = nullptr;  // set when device is a GPU
  Workspace workspace;
  DeviceFacts facts = {};  // of `device`: how much scratch ops take follows from them
  // Equal inputs give equal bits. False lets GPU kernels sum in the order they finish, where that
  // is faster (the backward of attention).
  bool deterministic = true;
  // F32 products may round their operands to TF32 (10 bits of mantissa) where a GPU is faster so.
  bool tf32 = false;
  // Of the ranks that make the same calls in the same order; null: this one chooses by itself.
  SharedChoices* choices = nullptr;
};

}  // namespace ingot
