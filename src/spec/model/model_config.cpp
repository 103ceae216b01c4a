#include "spec/model/model_config.h"

#include <utility>

#include "core/error/error.h"
#include "core/text/nearest.h"
#include "spec/model/model_settings.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

ModelConfig llama(int64_t dim, int64_t layers, int64_t heads, int64_t ffn, int64_t vocab,
                  int64_t context) {
  ModelConfig c;
  c.dim = dim;
  c.layers = layers;
  c.heads = heads;
  c.kv_heads = heads;
  c.head_dim = dim / heads;
  c.ffn = ffn;
  c.vocab = vocab;
  c.context = context;
  return c;
}

ModelConfig llama3(int64_t dim, int64_t layers, int64_t heads, int64_t ffn) {
  ModelConfig c = llama(dim, layers, heads, ffn, 128256, 8192);
  c.kv_heads = 8;
  c.rope.theta = 500000.0;
  return c;
}

// Meta's 3.2-1B reaches 131,072 tokens by scaled frequencies; the table stops at the 8,192 it was
// pretrained with, because a KV cache for the whole reach takes 8.6 GB in fp32.
ModelConfig llama_1b() {
  ModelConfig c = llama3(2048, 16, 32, 8192);
  c.tied = true;
  c.rope.scaling = RopeScaling::Llama3;
  c.rope.factor = 32.0;
  return c;
}

ModelConfig tied(ModelConfig c) {
  c.tied = true;
  return c;
}

// OpenAI's vocabulary of 50,257 stands in whole rows of tensor cores: 50,304.
ModelConfig gpt2(int64_t dim, int64_t layers, int64_t heads, int64_t context) {
  ModelConfig c = llama(dim, layers, heads, 4 * dim, 50304, context);
  c.tied = true;
  c.positions = Positions::Learned;
  c.norm = NormKind::Layer;
  c.activation = Activation::Gelu;
  c.qkv_bias = c.out_bias = c.mlp_bias = true;
  return c;
}

ModelConfig qwen3_0_6b() {
  ModelConfig c = llama(1024, 28, 16, 3072, 151936, 40960);
  c.kv_heads = 8;
  c.head_dim = 128;
  c.tied = true;
  c.qk_norm = true;
  c.norm_eps = 1e-6;
  c.rope.theta = 1e6;
  return c;
}

ModelConfig smollm2(int64_t dim, int64_t layers, int64_t heads, int64_t kv_heads, int64_t ffn) {
  ModelConfig c = llama(dim, layers, heads, ffn, 49152, 8192);
  c.kv_heads = kv_heads;
  c.tied = true;
  c.rope.theta = 100000.0;
  return c;
}

ModelConfig olmo2_1b() {
  ModelConfig c = llama(2048, 16, 16, 8192, 100352, 4096);
  c.norm_place = NormPlace::After;
  c.qk_norm = true;
  c.qk_norm_span = QkNormSpan::Projection;
  c.norm_eps = 1e-6;
  c.rope.theta = 500000.0;
  return c;
}

ModelConfig mistral_7b() {
  ModelConfig c = llama(4096, 32, 32, 14336, 32000, 32768);
  c.kv_heads = 8;
  c.window = 4096;
  return c;
}

ModelConfig llama_test() {
  ModelConfig c = llama(32, 2, 4, 64, 257, 256);
  c.kv_heads = 2;
  return c;
}

using Preset = std::pair<std::string, ModelConfig>;

// Smallest first. A vocabulary of 257 is the byte tokenizer's: 256 bytes and a separator.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"llama_test", llama_test()},
      {"llama_tiny", llama(128, 4, 4, 344, 257, 256)},
      {"llama_quickstart", llama(256, 4, 4, 688, 257, 512)},
      {"llama_10m", llama(256, 8, 8, 768, 8192, 2048)},
      {"debug_120m", llama(768, 12, 12, 2048, 8192, 2048)},
      {"llama_124m", tied(llama(768, 12, 12, 2048, 50304, 1024))},
      {"gpt2_124m", gpt2(768, 12, 12, 1024)},
      {"smollm2_135m", smollm2(576, 30, 9, 3, 1536)},
      {"smollm2_360m", smollm2(960, 32, 15, 5, 2560)},
      {"llama_500m", llama(1280, 24, 20, 3456, 32000, 4096)},
      {"qwen3_0.6b", qwen3_0_6b()},
      {"llama_1b", llama_1b()},
      {"olmo2_1b", olmo2_1b()},
      {"llama_7b", llama(4096, 32, 32, 11008, 32000, 4096)},
      {"mistral_7b", mistral_7b()},
      {"llama3_8b", llama3(4096, 32, 32, 14336)},
      {"llama3_70b", llama3(8192, 80, 64, 28672)},
      {"gpt3_175b", gpt2(12288, 96, 96, 2048)},
  };
  return all;
}

void validate(const RopeConfig& r, int64_t head_dim) {
  check(r.scaling != RopeScaling::Llama3 || r.high_freq_factor > r.low_freq_factor,
        ErrorCode::Config,
        "model.rope.high_freq_factor must be above model.rope.low_freq_factor: expected more than "
        "{}, got {}",
        r.low_freq_factor, r.high_freq_factor);
  check(r.scaling != RopeScaling::Yarn || r.beta_fast > r.beta_slow, ErrorCode::Config,
        "model.rope.beta_fast must be above model.rope.beta_slow: expected more than {}, got {}",
        r.beta_slow, r.beta_fast);
  const bool stretches = r.scaling == RopeScaling::Yarn || r.scaling == RopeScaling::Dynamic;
  check(!stretches || r.factor >= 1.0, ErrorCode::Config,
        "model.rope.factor: yarn and dynamic scaling expected at least 1, got {}", r.factor);
  check(r.scaling != RopeScaling::Dynamic || head_dim > 2, ErrorCode::Config,
        "model.rope.scaling dynamic expected model.head_dim above 2, got {}", head_dim);
}

}  // namespace

void resolve_head_dim(ModelConfig& c) {
  if (c.head_dim != 0) return;
  check(c.heads > 0 && c.dim % c.heads == 0, ErrorCode::Config,
        "model.heads must divide model.dim: expected a divisor of {}, got {}; or set "
        "model.head_dim",
        c.dim, c.heads);
  c.head_dim = c.dim / c.heads;
}

void resolve_kv_heads(ModelConfig& c, const ModelConfig& like, std::string_view name) {
  if (c.kv_heads != 0) return;
  const int64_t shared_by = like.kv_heads > 0 ? like.heads / like.kv_heads : 1;
  check(c.heads % shared_by == 0, ErrorCode::Config,
        "model.heads: {} has {} query heads to a key and value head: expected a multiple of {}, "
        "got {}; or set model.kv_heads",
        name, shared_by, shared_by, c.heads);
  c.kv_heads = c.heads / shared_by;
}

void validate(const ModelConfig& c) {
  ModelConfig copy = c;
  for (const Setting& setting : model_settings(copy)) setting.set(setting.get());
  check(c.head_dim > 0, ErrorCode::Config, "model.head_dim: expected more than 0, got {}",
        c.head_dim);
  check(c.kv_heads > 0 && c.heads % c.kv_heads == 0, ErrorCode::Config,
        "model.kv_heads must divide model.heads: expected a divisor of {}, got {}", c.heads,
        c.kv_heads);
  check(c.positions != Positions::Rotary || c.head_dim % 2 == 0, ErrorCode::Config,
        "model.head_dim must be even, since rotary embedding turns pairs: got {} (dim {}, heads "
        "{})",
        c.head_dim, c.dim, c.heads);
  check(!c.window_layers.empty() && c.window_layers.find_first_not_of("wf") == std::string::npos,
        ErrorCode::Config,
        "model.window_layers: expected letters w (window) and f (full), as w or wwf, got \"{}\"",
        c.window_layers);
  validate(c.rope, c.head_dim);
}

int64_t parameter_count(const ModelConfig& c) {
  int64_t count = 0;
  const TensorTable parameters = transformer_parameters(c);
  for (const TensorSpec& row : parameters.rows()) count += row.shape.numel();
  return count;
}

ModelConfig model_preset(std::string_view name) {
  for (const Preset& preset : presets())
    if (preset.first == name) return preset.second;
  const std::string near = nearest_name(name, model_preset_names());
  throw Error(ErrorCode::Config,
              near.empty()
                  ? fmt::format("unknown preset \"{}\"; presets are {}", name,
                                fmt::join(model_preset_names(), ", "))
                  : fmt::format("unknown preset \"{}\"; did you mean \"{}\"?", name, near));
}

std::vector<std::string> model_preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.first);
  return names;
}

}  // namespace ingot
