// Options of attention over pages, for its tests on the CPU and on a GPU.
#pragma once

#include <cstdint>

#include "ops/attention.h"

namespace ingot::test {

inline AttentionOptions with(int64_t window, double softcap = 0, double scale = 0) {
  AttentionOptions options;
  options.window = window;
  options.softcap = softcap;
  options.scale = scale;
  return options;
}

}  // namespace ingot::test
