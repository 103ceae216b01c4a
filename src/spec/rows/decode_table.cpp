#include "spec/rows/decode_table.h"

#include "core/error/error.h"
#include "core/tensor/kv_page.h"
#include "core/tensor/q8_0.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/block_use.h"
#include "spec/rows/transformer_rows.h"

namespace ingot {
namespace {

// Ticks: 0 embedding and all layers, which share their rows; 1 final norm; 2 head.
constexpr Lifetime kLayers{0, 1}, kFinalNorm{1, 1}, kToHead{1, 2}, kHead{2, 2};

TensorSpec weight(const DecodeShape& shape, TensorSpec row) {
  if (is_packed(shape, row)) {
    row.shape = {packed_bytes(packed_format(shape, row), row.shape[0], row.shape[1])};
    row.dtype = DType::U8;
  } else {
    row.dtype = compute_dtype(shape);
  }
  return row;
}

}  // namespace

DType compute_dtype(const DecodeShape& shape) {
  check(shape.packed || shape.weights != WeightFormat::Q8_0, ErrorCode::Usage,
        "a GPU decodes with weights in f32 or bf16: give one of them instead of q8_0");
  return shape.packed || shape.weights == WeightFormat::F32 ? DType::F32 : DType::BF16;
}

DType cache_dtype(const DecodeShape& shape) {
  return shape.weights == WeightFormat::F32 ? DType::F32 : DType::BF16;
}

bool is_packed(const DecodeShape& shape, const TensorSpec& parameter) {
  return shape.packed && parameter.shape.rank() == 2 && parameter.name != "position.weight";
}

WeightFormat packed_format(const DecodeShape& shape, const TensorSpec& parameter) {
  const bool whole_blocks = parameter.shape[1] % kQ8Block == 0;
  return shape.weights == WeightFormat::Q8_0 && !whole_blocks ? WeightFormat::F32 : shape.weights;
}

StepInputs step_inputs(const DecodeShape& shape) {
  const int64_t of_sequence = (shape.context + kPageTokens - 1) / kPageTokens;
  return {shape.max_rows, shape.max_sequences * of_sequence};
}

TensorTable transformer_decode_table(const ModelConfig& c, const DecodeShape& shape) {
  const DType compute = compute_dtype(shape), acc = accumulation_dtype(compute);
  const int64_t N = shape.max_rows, R = shape.max_logit_rows;
  TensorTable table;
  const TensorTable parameters = transformer_parameters(c);
  for (const TensorSpec& row : parameters.rows()) table.add(weight(shape, row));
  for (int64_t i = 0; i < c.layers; ++i)
    table.add(spec_of(layer_name(i, "cache"), {shape.pages, page_elements(c.kv_heads, c.head_dim)},
                      cache_dtype(shape), TensorKind::Cache));
  const auto integers = [&](const char* name, const Shape& extents) {
    table.add(spec_of(name, extents, DType::I32, TensorKind::Input));
  };
  if (shape.packed) {
    integers("tokens", {N});
    integers("positions", {N});
  } else {
    integers("step_inputs", {step_inputs(shape).total()});
    integers("likeliest", {R, kLikeliestWords});
  }
  if (c.positions == Positions::Rotary)
    for (const char* name : {"rope.cos", "rope.sin"})
      table.add(spec_of(name, {shape.context, c.head_dim / 2}, acc, TensorKind::Input));
  table.add(spec_of("workspace", {shape.workspace_bytes}, DType::U8, TensorKind::Workspace));
  for (const LayerRow& row : layer_rows(c, N, 1, compute))
    if (row.name != "lse")  // for a backward pass
      table.add(activation_of(shared_name(row.name), row.shape, row.dtype, kLayers));
  table.add(activation_of("final_residual", {R, c.dim}, compute, kFinalNorm));
  table.add(activation_of("final_norm", {R, c.dim}, compute, kToHead));
  table.add(activation_of("final_rstd", {R}, acc, kFinalNorm));
  table.add(activation_of("logits", {R, c.vocab}, acc, kHead));
  return table;
}

void add_scoring_rows(TensorTable& table, const ModelConfig& config, const DecodeShape& shape,
                      bool shares_memory) {
  const int between = ticks_of(config).last() + 1;
  const TensorTable rows = transformer_decode_table(config, shape);
  for (TensorSpec row : rows.rows()) {
    row.name = kScoringRows + row.name;
    row.role = Role::None;
    row.block = -1;
    const Lifetime own = row.whole_run() ? Lifetime{kLayers.first, kHead.last} : row.lives.front();
    row.lives = {shares_memory ? Lifetime{between + own.first, between + own.last} : Lifetime{}};
    table.add(std::move(row));
  }
}

}  // namespace ingot
