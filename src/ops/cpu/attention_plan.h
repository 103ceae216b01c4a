// How attention's work on the CPU is cut up, and the memory that takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor/dtype.h"

namespace ingot::cpu {

// Scores are computed (kKeyBlock × kQueryBlock) at a time. Both are multiples of every ISA's tile
// (6 or 8 rows, 4 to 32 lanes).
inline constexpr int64_t kQueryBlock = 96;
inline constexpr int64_t kKeyBlock = 48;

// One task owns one segment of queries and, backward, one segment of keys. All depends on the
// shapes alone, never on the number of threads, so that sums are taken in the same order on any
// machine.
struct AttentionPlan {
  int64_t num_segments;   // of queries, and as many of keys
  int64_t query_segment;  // rows a segment, a multiple of kQueryBlock; the last ones may be short
  int64_t key_segment;    // the same, or empty
};
AttentionPlan plan_attention(int64_t num_heads, int64_t Tq, int64_t Tk);

// Bytes of scratch a thread needs for either direction, a multiple of kArenaAlignment.
int64_t attention_thread_bytes(const AttentionPlan& plan, DType dtype, int64_t D);

// So many bytes that this thread keeps for its next task too; aligned, contents undefined.
std::byte* attention_thread_scratch(int64_t bytes);

// Bytes of shared scratch backward needs besides.
int64_t attention_wide_bytes(const AttentionPlan& plan, DType dtype, int64_t B, int64_t Tq,
                             int64_t Tk, int64_t H, int64_t G, int64_t D);

}  // namespace ingot::cpu
