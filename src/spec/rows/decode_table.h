// The rows of decoding: packed weights, pages of keys and values, and the activations of one run.
#pragma once

#include <string>

#include "core/tensor/device.h"
#include "core/tensor/weight_format.h"
#include "spec/model/model_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// All that the memory of decoding depends on.
struct DecodeShape {
  WeightFormat weights = WeightFormat::F32;
  int64_t context = 0;         // positions that a sequence may have
  int64_t pages = 0;           // of kPageTokens tokens each, in every layer
  int64_t max_sequences = 1;   // that have rows in one run
  int64_t max_rows = 64;       // new tokens of one run, of all sequences
  int64_t max_logit_rows = 1;  // of them, those whose logits are wanted
  int64_t workspace_bytes = 0;
  // A CPU multiplies packed matrices and computes in F32; a GPU multiplies plain ones and computes
  // in their dtype, F32 or BF16.
  bool packed = true;
};

// Of activations.
DType compute_dtype(const DecodeShape& shape);
// Of keys and values: F32 with F32 weights, otherwise BF16.
DType cache_dtype(const DecodeShape& shape);

// Matrices, embedding and head of a packed table: the format of the shape. Q8_0 stores rows that
// are not whole blocks as F32.
bool is_packed(const DecodeShape& shape, const TensorSpec& parameter);
WeightFormat packed_format(const DecodeShape& shape, const TensorSpec& parameter);

// What the host sends to a GPU at each step, parts of one row: the ids and positions of all rows,
// and for attention over pages (ops/paged_attention.h) ends, first_pages and page_ids.
struct StepInputs {
  int64_t rows = 0, page_ids = 0;  // the lengths of each of the first four, and of the last
  int64_t total() const { return 4 * rows + page_ids; }
};
StepInputs step_inputs(const DecodeShape& shape);

// The likeliest ids that a GPU finds in a row of logits, in words of 32 bits (ops/top_logits.h).
inline constexpr int64_t kLikeliestWords = 130;

// The parameters, named as in transformer_parameters(); packed ones are U8 of packed_bytes().
// "layers.i.cache": (pages, page_elements). rope.cos, rope.sin (context, D/2) unless positions are
// learned. Of max_rows rows, the layer rows of the training table as "shared.NAME". Of
// max_logit_rows rows, final_residual and final_norm (C), final_rstd and logits (V). "workspace".
// I32 on a CPU: tokens and positions (max_rows); on a GPU: step_inputs (total) and
// likeliest (max_logit_rows, kLikeliestWords).
TensorTable transformer_decode_table(const ModelConfig& config, const DecodeShape& shape);

// The same in the table of a run that scores tasks between its steps: each name behind
// kScoringRows. Where `shares_memory` is true the rows live only between micro-steps, in memory
// that activations have in them; else always.
inline constexpr char kScoringRows[] = "scoring.";
void add_scoring_rows(TensorTable& table, const ModelConfig& config, const DecodeShape& shape,
                      bool shares_memory);

}  // namespace ingot
