// Where a GPU's page holds the keys and values of a group of heads.
#pragma once

#include <cstdint>

#include "core/tensor/kv_page.h"

namespace ingot::cuda {

// The first key of a group in a page is at group · 2 · kPageTokens · D, its first value kPageTokens
// · D later. Tokens follow each other.
__device__ __forceinline__ int64_t page_offset(int64_t page, int group, int groups, int D) {
  return (page * groups + group) * (2 * kPageTokens * D);
}

}  // namespace ingot::cuda
