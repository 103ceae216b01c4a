// The shape of a model, as plain data. A family (Llama, Qwen3, OLMo-2, GPT-2, …) is a combination
// of these fields; no code tests for a family by name. A norm multiplies by its weight: families
// that store the weight as an offset from one (Gemma) have one added at import.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class RopeStyle {
  HalfSplit,
  Interleaved
};  // pairs (i, i + D/2) as in HF, or (2i, 2i+1) as in llama2.c
enum class RopeScaling { None, Linear, Dynamic, Yarn, Llama3 };
enum class Positions { Rotary, Learned };
// silu(gate) · up, gelu(gate) · up, max(x, 0)², gelu(x); gelu is the tanh form of GPT-2 and Gemma.
enum class Activation { SwiGlu, GeGlu, ReluSquared, Gelu };
enum class NormKind { Rms, Layer };
enum class NormPlace { Before, After, Both };
enum class QkNormSpan { Head, Projection };

#include "spec/settings/fields.h"
struct RopeConfig {
#include "spec/settings/rope.def"
  bool operator==(const RopeConfig&) const = default;
};

struct ModelConfig {
#include "spec/settings/model.def"
  RopeConfig rope;
  bool operator==(const ModelConfig&) const = default;

  // Rows of the fused projection: all query heads, then key heads, then value heads.
  int64_t qkv_rows() const {
    return (heads + 2 * kv_heads) * head_dim;
  }
  // Whether the MLP's activation has a gate.
  bool gated() const {
    return activation == Activation::SwiGlu || activation == Activation::GeGlu;
  }
  // Rows of the fused up projection: gate then up with a gate, else up alone.
  int64_t up_rows() const {
    return gated() ? 2 * ffn : ffn;
  }
  bool norm_before() const {
    return norm_place != NormPlace::After;
  }
  bool norm_after() const {
    return norm_place != NormPlace::Before;
  }
  // The attention window of a layer; 0 = unlimited.
  int64_t window_of(int64_t layer) const {
    const auto at = static_cast<size_t>(layer) % window_layers.size();
    return window_layers[at] == 'w' ? window : 0;
  }
};
#include "spec/settings/end.h"

// If head_dim is 0, sets it to dim / heads, which must be an integer.
void resolve_head_dim(ModelConfig& config);

// If kv_heads is 0, sets it by the ratio of query to key heads in `like`; `name` is like's, for
// messages.
void resolve_kv_heads(ModelConfig& config, const ModelConfig& like, std::string_view name);

// Throws ErrorCode::Config with the field, the expected value and the actual one.
void validate(const ModelConfig& config);

int64_t parameter_count(const ModelConfig& config);  // tied weights counted once

// Presets by name ("llama_10m", …); throws with the nearest name if unknown.
ModelConfig model_preset(std::string_view name);
std::vector<std::string> model_preset_names();

}  // namespace ingot
