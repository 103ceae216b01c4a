// The likeliest ids of rows of logits, found on a GPU: a step of many replies would copy a hundred
// megabytes of logits to the host otherwise.
#pragma once

#include <cstdint>
#include <span>

#include "core/device/context.h"
#include "core/tensor/tensor.h"

namespace ingot {

// How many ids are kept of a row.
inline constexpr int64_t kTopLogits = 64;

struct IdLogit {
  int32_t id;  // -1: none, as the row has fewer
  float logit;
};

// What is kept of a row: trivially copyable, as a GPU writes it.
struct TopLogits {
  int32_t all_finite, all_zero;  // of the whole row, before the soft cap
  IdLogit ids[kTopLogits];       // in no order; of equal logits the lower ids
};
inline constexpr int64_t kTopLogitsWords = sizeof(TopLogits) / sizeof(int32_t);

// Finds the likeliest ids of logits(N, V) F32, contiguous, on a GPU. Ids from `below` on are left
// out; logits are first capped: cap · tanh(logit / cap), 0 = off. top(N, kTopLogitsWords) I32.
void top_logits(Context& ctx, const Tensor& logits, int64_t below, double softcap,
                const Tensor& top);

int64_t top_logits_workspace_bytes(const DeviceFacts& facts, int64_t N, int64_t V);

}  // namespace ingot
