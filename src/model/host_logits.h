// The logits of one run of a decoder as the host reads them: whole rows, or on a GPU only the
// likeliest ids of each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/device/arena.h"
#include "core/device/context.h"
#include "core/tensor/tensor.h"
#include "ops/top_logits.h"

namespace ingot {

class HostLogits {
 public:
  // `likeliest` (max_logit_rows, kTopLogitsWords), or undefined on a CPU. `softcap`: 0 = off.
  HostLogits(Context& ctx, Tensor likeliest, double softcap);

  // Reads rows of logits(n, V): of row i only the likeliest, which top_logits() found, if
  // is_likeliest[i]. Waits for the device.
  void read(const Tensor& logits, const std::vector<bool>& is_likeliest);

  // (n, V) with the soft cap; on a GPU rows without their likeliest, or empty if there are none.
  std::span<const float> rows() const { return rows_; }
  bool is_finite(int64_t row) const { return finite_[static_cast<size_t>(row)]; }
  // Null if the row is in rows().
  const TopLogits* likeliest(int64_t row) const;

 private:
  void copy_likeliest(int64_t n);
  void copy_rows(const Tensor& logits);
  std::span<float> pinned_floats(int64_t count);

  Context& ctx_;
  const Tensor likeliest_;
  const double softcap_;
  std::vector<bool> is_likeliest_, finite_;
  std::span<const float> rows_;
  std::optional<Arena> pinned_rows_, pinned_likeliest_;  // of a GPU, once they are needed
};

}  // namespace ingot
