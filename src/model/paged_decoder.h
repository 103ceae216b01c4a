// Runs the transformer forward on new tokens of many sequences at once. Keys and values are in
// pages that the caller assigns.
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
#include "ops/top_logits.h"
#include "spec/model/model_config.h"
#include "spec/rows/decode_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// Consecutive new tokens of one sequence.
struct DecodeRows {
  std::span<const int32_t> ids;  // at least one
  int64_t first_position = 0;    // of ids[0]; all positions before it are in `pages`
  // pages[p / kPageTokens] holds position p, for all positions up to the last new one. Pages that
  // are written to belong to this sequence alone.
  std::span<const int32_t> pages;
  int64_t num_logits = 1;  // how many of the last tokens need logits: 0 to ids.size()
  // Above 0: of these logits only the likeliest ids below this are needed, which a GPU finds
  // itself. The same for all sequences of a run that have one.
  int64_t likeliest_below = 0;
};

class PagedDecoder {
 public:
  // Writes elements [begin, end) of the flattened parameter `name`, in the layout of
  // transformer_parameters(), to `values`. Reads a checkpoint or a store that is training.
  using ReadWeights = std::function<void(const std::string& name, int64_t begin, int64_t end,
                                         std::span<float> values)>;

  // `placed` holds the rows of transformer_decode_table(config, shape), with `prefix` before their
  // names; it and `ctx` must outlive this. Weights are 0 until load().
  PagedDecoder(Context& ctx, const ModelConfig& config, const DecodeShape& shape,
               const PlacedTensors& placed, std::string_view prefix = "");
  ~PagedDecoder();

  // Reads all weights, a few rows at a time, and packs them. May be called again; pages filled
  // before then hold keys and values of the old weights.
  void load(const ReadWeights& read);

  // Appends the rows of each sequence and returns the logits (Σ num_logits, V), in order, on the
  // host; valid until the next call. The bits of a sequence's logits do not depend on the other
  // sequences, on how its tokens are split over calls, on its pages or on the number of threads
  // (docs/infer.md says where a GPU differs). `search` inspects all activations. The call is
  // limited by max_sequences, max_rows and max_logit_rows of the shape.
  std::span<const float> run(std::span<const DecodeRows> sequences,
                             FirstNotFinite* search = nullptr);
  // Whether this row of the last logits was finite before the soft cap, which hides infinity.
  bool is_finite(int64_t logit_row) const;
  // The likeliest ids of a row with likeliest_below, which then has no logits; null on a CPU. If
  // all rows have theirs, run() returned no logits at all.
  const TopLogits* likeliest(int64_t logit_row) const;

  // Copies a page in every layer. For a page that others share, before it is written to.
  void copy_page(int32_t from, int32_t to);

  Context& context();
  const ModelConfig& config() const;
  const DecodeShape& shape() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
