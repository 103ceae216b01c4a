// The transformer, run forward on new tokens of many sequences at once. Keys and values are in
// pages, which the caller deals out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/context.h"
#include "model/first_not_finite.h"
#include "spec/model/model_config.h"
#include "spec/rows/decode_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// Consecutive new tokens of one sequence.
struct DecodeRows {
  std::span<const int32_t> ids;  // at least one
  int64_t first_position = 0;    // of ids[0]; all positions before it are in `pages`
  // Page p / kPageTokens holds position p; up to the last of the new ones. The pages that are
  // written to belong to this sequence alone.
  std::span<const int32_t> pages;
  int64_t num_logits = 1;  // of the last tokens: 0 to ids.size()
};

class PagedDecoder {
 public:
  // Writes elements [begin, end) of the flattened parameter, which is laid out as
  // transformer_parameters() has it, to `values`: of a checkpoint or of a store that is training.
  using ReadWeights = std::function<void(const std::string& name, int64_t begin, int64_t end,
                                         std::span<float> values)>;

  // Rows of transformer_decode_table(config, shape), whose names in `placed` begin with `prefix`;
  // like `ctx`, `placed` must outlive it. Weights are 0 until load().
  PagedDecoder(Context& ctx, const ModelConfig& config, const DecodeShape& shape,
               const PlacedTensors& placed, std::string_view prefix = "");
  ~PagedDecoder();

  // Reads all weights, a few rows at a time, and packs them. May be called again: pages filled
  // before hold keys of the old weights.
  void load(const ReadWeights& read);

  // Appends the rows of each sequence and returns the logits (Σ num_logits, V), in order, on the
  // host; valid until the next call. The bits of a sequence's logits do not depend on the other
  // sequences, on how its tokens are dealt to runs, on its pages or on the number of threads
  // (docs/infer.md says where a GPU differs). `search`: inspects all activations. Takes at most
  // max_sequences, max_rows and max_logit_rows of the shape.
  std::span<const float> run(std::span<const DecodeRows> sequences,
                             FirstNotFinite* search = nullptr);
  // Whether that row of the last logits was finite before the soft cap, which hides infinity.
  bool is_finite(int64_t logit_row) const;

  // Copies a page in every layer: before a write to one that others share.
  void copy_page(int32_t from, int32_t to);

  Context& context();
  const ModelConfig& config() const;
  const DecodeShape& shape() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
