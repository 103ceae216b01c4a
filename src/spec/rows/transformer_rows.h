// The rows of a transformer's tensor tables, declared one per line: name, shape, dtype, when the
// row exists and how long it holds data. transformer_table.h builds the tables from them.
//
// N = B·T tokens; C dim, H heads, G key/value heads, D head_dim, F ffn; acc: accumulation dtype of
// `compute`. "d.X" is the gradient of X.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/rows/transformer_table.h"

namespace ingot {

// One row for each layer that keeps it; layers that recompute it share one.
struct LayerRow {
  std::string name;
  Shape shape;
  DType dtype;
  bool exists;
  Recompute recompute;  // by which policies
};

// The ticks in which a row holds data.
enum class RowLife {
  Run,           // all
  LayerPasses,   // the layers' forward passes, and again their backward passes
  BackwardPass,  // the layers' backward passes
  Head,          // head and loss
  ToLoss,        // the last layer's forward pass to the loss
  FromLoss       // the loss to the end of the micro-step
};

struct StepRow {
  std::string name;
  Shape shape;
  DType dtype;
  bool exists;
  TensorKind kind;
  RowLife life;
  enum Copies { One, PerSlot } copies = One;
};

// Of a row that lives throughout.
TensorSpec spec_of(std::string name, Shape shape, DType dtype, TensorKind kind);
TensorSpec activation_of(std::string name, Shape shape, DType dtype, Lifetime life);

// "shared.X": the one row that layers share in place of X each.
std::string shared_name(std::string_view what);

// A layer's activations for B sequences of T tokens.
std::vector<LayerRow> layer_rows(const ModelConfig& c, int64_t B, int64_t T, DType compute,
                                 bool fp8 = false);

// The other rows of a training micro-step: before the layers, the layers' 8-bit tensors (empty
// without fp8), and after the layers.
std::vector<StepRow> input_rows(const ModelConfig& c, const TrainShape& shape);
std::vector<StepRow> fp8_rows(const ModelConfig& c, const TrainShape& shape);
std::vector<StepRow> output_rows(const ModelConfig& c, const TrainShape& shape);

}  // namespace ingot
