// The shape of a model, as plain data.
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
enum class RopeScaling { None, Llama3 };
enum class Activation { SwiGlu, ReluSquared };

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
  // Rows of the fused up projection: gate then up for SwiGLU, up alone for ReLU².
  int64_t up_rows() const {
    return activation == Activation::SwiGlu ? 2 * ffn : ffn;
  }
};
#include "spec/settings/end.h"

// head_dim where it is 0: dim / heads.
void resolve_head_dim(ModelConfig& config);

// Throws ErrorCode::Config naming the field, what was expected and what it got.
void validate(const ModelConfig& config);

int64_t parameter_count(const ModelConfig& config);  // tied weights counted once

// Presets by name ("llama_10m", …); throws with the nearest name when unknown.
ModelConfig model_preset(std::string_view name);
std::vector<std::string> model_preset_names();

}  // namespace ingot
