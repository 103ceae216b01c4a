// The rows of a training run of a transformer, and the names the model finds them by.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spec/layout/layout.h"
#include "spec/model/activation_policy.h"
#include "spec/model/model_config.h"
#include "spec/model/transformer_parameters.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// All that the memory of a training run depends on.
struct TrainShape {
  int64_t B = 1;               // sequences in a micro-batch
  int64_t T = 1;               // tokens in a sequence
  DType compute = DType::F32;  // weights and activations; F64, F32, BF16 or F16
  bool fp8 = false;            // a layer's four GEMMs use 8-bit operands (docs/fp8.md)
  bool fp8_head = false;       // with fp8: the output head's GEMMs too
  ActivationPolicy policy = ActivationPolicy::Selective;
  int64_t slots = 1;        // micro-batches whose activations are held at once
  int64_t keep_layers = 0;  // the last ones, which keep all activations: policy_of()
  Layout layout;
  int64_t loss_chunk = 512;          // tokens whose logits are held at once
  int64_t workspace_bytes = 0;       // largest workspace of any op but the head
  int64_t head_workspace_bytes = 0;  // the output head's
  bool document_mask = false;
  int64_t offload_layers = 0;  // that offload activations to the host; not with keep_layers
};

ActivationPolicy policy_of(const TrainShape& shape, int64_t layer, int64_t num_layers);

// With fp8: the GEMMs of a layer, each with its own scales of input, gradient and weight. The
// head's scales follow the last layer's.
inline constexpr int64_t kFp8PerLayer = 4;
inline constexpr int64_t kFp8ScaleStride = 4;  // floats; cuBLASLt needs 16-byte alignment
inline constexpr int64_t kFp8History = 16;     // steps whose maxima determine a scale

// All that one rank's micro-step needs besides the parameter store: inputs, activations, their
// gradients and workspace. spec/rows/transformer_rows.h declares the rows. The caller adds the
// store's rows (weights, gradients, masters, moments) with add_store_rows().
//
// A layer's row NAME is "layers.i.NAME" if the layer keeps it. Rows that layers recompute exist
// once, as "shared.NAME". Offloaded layers (offload_place()) alternate between "offload.0.NAME" and
// "offload.1.NAME"; their copies are "host.PLACE.NAME" in page-locked memory. With several slots,
// each slot has its own copy, named by slot_name(), of what a micro-batch keeps from its forward to
// its backward pass; what one pass of one layer writes and reads exists once.
TensorTable transformer_train_table(const ModelConfig& config, const TrainShape& shape);

// The index of the layer among the offloaded ones; nothing if it is not offloaded. Offloaded layers
// are spread over the model, so that copies overlap with the layers between.
std::optional<int64_t> offload_place(int64_t layer, int64_t num_layers, int64_t num_offloaded);

// Whether the layer of this place is copied to the host: the last two offloaded ones need not be.
bool is_copied_to_host(int64_t place, int64_t num_offloaded);

// The row "layers.i.what" of the slot, or the shared one "offload.….what" or "shared.what"; invalid
// if there is none. `place`: offload_place() of the layer.
TensorId layer_row(const TensorTable& table, int64_t layer, std::optional<int64_t> place,
                   std::string_view what, int64_t slot = 0);

std::string offload_name(int64_t place, std::string_view what);  // "offload.1." + what for place 3
std::string host_name(int64_t place, std::string_view what);     // "host.3." + what
std::string slot_name(int64_t slot, std::string_view name);      // name, or "slot.1." + name

}  // namespace ingot
