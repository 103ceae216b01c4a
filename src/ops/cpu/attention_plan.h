// The tasks of attention on the CPU and their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor/dtype.h"

namespace ingot::cpu {

// Scores are computed (kKeyBlock × kQueryBlock) at a time. Both are multiples of every ISA's tile
// (6 or 8 rows, 4 to 32 lanes).
inline constexpr int64_t kQueryBlock = 96;
inline constexpr int64_t kKeyBlock = 48;

// A task owns one segment of queries and, in the backward pass, one segment of keys. The plan
// depends only on the shapes, never on the number of threads, so that sums have the same order on
// every machine.
struct AttentionPlan {
  int64_t num_segments;   // of queries; there are as many of keys
  int64_t query_segment;  // rows per segment, a multiple of kQueryBlock; the last may be short
  int64_t key_segment;    // the same for keys; the last may be short or empty
};
AttentionPlan plan_attention(int64_t num_heads, int64_t Tq, int64_t Tk);

// Bytes of scratch a thread needs for either direction, a multiple of kArenaAlignment.
int64_t attention_thread_bytes(const AttentionPlan& plan, DType dtype, int64_t D);

// A buffer of this thread with at least `bytes`, reused by its next task; aligned, contents
// undefined.
std::byte* attention_thread_scratch(int64_t bytes);

// Bytes of scratch shared by all threads in the backward pass, in addition.
int64_t attention_wide_bytes(const AttentionPlan& plan, DType dtype, int64_t B, int64_t Tq,
                             int64_t Tk, int64_t H, int64_t G, int64_t D);

}  // namespace ingot::cpu
