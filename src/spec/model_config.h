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

struct RopeConfig {
  double theta = 10000.0;
  RopeStyle style = RopeStyle::HalfSplit;
  RopeScaling scaling = RopeScaling::None;
  // Llama-3 scaling; ignored under None.
  double factor = 8.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  int64_t original_context = 8192;
  bool operator==(const RopeConfig&) const = default;
};

struct ModelConfig {
  int64_t dim = 256;
  int64_t layers = 8;
  int64_t heads = 8;
  int64_t kv_heads = 8;
  int64_t head_dim = 32;
  int64_t ffn = 768;
  int64_t vocab = 8192;
  int64_t context = 2048;  // longest T the rotary table covers
  bool tied = false;       // output head shares the embedding
  Activation activation = Activation::SwiGlu;
  RopeConfig rope;
  double norm_eps = 1e-5;
  bool qk_norm = false;
  int64_t window = 0;    // sliding attention window in tokens; 0 = unlimited
  double softcap = 0.0;  // logits ← c·tanh(logits/c); 0 = off
  double init_std = 0.02;
  bool operator==(const ModelConfig&) const = default;

  // Rows of the fused projection: all query heads, then key heads, then value heads.
  int64_t qkv_rows() const { return (heads + 2 * kv_heads) * head_dim; }
  // Rows of the fused up projection: gate then up for SwiGLU, up alone for ReLU².
  int64_t up_rows() const { return activation == Activation::SwiGlu ? 2 * ffn : ffn; }
};

// Throws ErrorCode::Config naming the field, what was expected and what it got.
void validate(const ModelConfig& config);

int64_t parameter_count(const ModelConfig& config);  // tied weights counted once

// Presets by name ("llama_10m", …); throws with the nearest name when unknown.
ModelConfig model_preset(std::string_view name);
std::vector<std::string> model_preset_names();

}  // namespace ingot
