// Pages of a KV cache, which ops/paged_attention.h reads and writes.
#pragma once

#include <cstdint>

namespace ingot {

inline constexpr int64_t kPageTokens = 16;

// Elements of a page: keys and values of kPageTokens tokens of one layer, in an order that the
// device decides.
constexpr int64_t page_elements(int64_t kv_heads, int64_t head_dim) {
  return 2 * kPageTokens * kv_heads * head_dim;
}

}  // namespace ingot
