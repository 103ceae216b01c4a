// What the host tells the device of one run of a decoder: ids, positions and pages of its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/device/context.h"
#include "model/paged_decoder.h"
#include "ops/paged_attention.h"
#include "spec/rows/decode_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

class StepInput {
 public:
  // The rows of transformer_decode_table(); all arguments must outlive it.
  StepInput(Context& ctx, const DecodeShape& shape, const PlacedTensors& placed,
            std::string_view prefix);

  // Sends the rows of `sequences`, followed on a GPU by as many that are none as make n. Later
  // calls may follow before the device has used it.
  void send(std::span<const DecodeRows> sequences, int64_t n);

  // Of the last n rows sent, in device memory.
  Tensor tokens() const { return part(0); }     // (n)
  Tensor positions() const { return part(1); }  // (n)
  PagedBatch batch() const;

 private:
  // One of the parts of StepInputs.
  Tensor part(int64_t index) const;
  int32_t* host(int64_t index) { return host_.data() + index * extents_.rows; }

  Context& ctx_;
  const StepInputs extents_;
  const int64_t context_;
  const bool on_gpu_;
  Tensor memory_[2];  // on a CPU tokens and positions, on a GPU the first has all parts
  std::vector<int32_t> host_;
  std::vector<PagedSequence> sequences_;
  int64_t n_ = 0;
};

}  // namespace ingot
