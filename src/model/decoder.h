// The same transformer, run forward on new tokens only, with a KV cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/device/context.h"
#include "model/first_not_finite.h"
#include "model/layer.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {

// Weights, cache and activations are rows of transformer_infer_table in `placed`. `placed` and
// `ctx` must outlive it. One sequence.
class Decoder {
 public:
  Decoder(Context& ctx, const ModelConfig& config, int64_t context, int64_t chunk,
          const PlacedTensors& placed);

  // Appends `tokens` (at least one) to the sequence and returns the logits (V) after the last one,
  // valid until the next call. Throws ErrorCode::Usage if the sequence would exceed the context. If
  // `search` is not null, it inspects the activations.
  std::span<const float> append(std::span<const int32_t> tokens, FirstNotFinite* search = nullptr);
  // Whether the last logits were finite before a soft cap, which hides infinity.
  bool is_finite() const { return is_finite_; }

  int64_t length() const { return length_; }
  void reset() { length_ = 0; }

 private:
  struct DecoderLayer {
    LayerWeights weights;
    Tensor cache_k, cache_v;  // (1, context, G, D)
  };
  // Tensors outside the layers, and those that all layers share.
  struct Rows {
    Tensor tokens;         // (chunk) I32
    Tensor positions;      // (chunk) I32, if positions are learned
    Tensor embedding;      // (V, C)
    Tensor position;       // (context, C), if positions are learned
    Affine<Operand> norm;  // (C)
    Tensor final_norm;     // (chunk, C)
    Tensor final_rstd;     // (chunk)
    Tensor head;           // (V, C)
    Tensor logits;         // (1, V) F32
    LayerTensors layer;    // of `chunk` tokens
  };
  void rotate_for(int64_t count);                       // fills the RoPE tables for the next tokens
  void embed(const Tensor& ids, const Tensor& stream);  // (n) → (n, C)
  void append_chunk(std::span<const int32_t> tokens, FirstNotFinite* search);
  LayerTensors activations(int64_t n) const;  // the first n rows of each

  Context& ctx_;
  ModelConfig config_;
  int64_t context_;
  int64_t chunk_;
  Rows rows_;
  std::vector<DecoderLayer> layers_;
  RopeInput rope_;
  std::vector<float> logits_;  // (V) of the last token, on the host
  bool is_finite_ = true;
  int64_t length_ = 0;
};

}  // namespace ingot
