#include "spec/model_config.h"

#include <utility>

#include "core/error.h"
#include "core/text/nearest.h"
#include "spec/model_settings.h"

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

ModelConfig gpt2_124m() {
  ModelConfig c = llama(768, 12, 12, 2048, 50304, 1024);
  c.tied = true;
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
      {"gpt2_124m", gpt2_124m()},
      {"llama_500m", llama(1280, 24, 20, 3456, 32000, 2048)},
      {"llama_1b", llama_1b()},
      {"llama_7b", llama(4096, 32, 32, 11008, 32000, 4096)},
      {"llama3_8b", llama3(4096, 32, 32, 14336)},
      {"llama3_70b", llama3(8192, 80, 64, 28672)},
  };
  return all;
}

}  // namespace

void resolve_head_dim(ModelConfig& c) {
  if (c.head_dim == 0) c.head_dim = c.dim / c.heads;
}

void validate(const ModelConfig& c) {
  ModelConfig copy = c;
  for (const Setting& setting : model_settings(copy)) setting.set(setting.get());
  check(c.dim % c.heads == 0, ErrorCode::Config,
        "model.heads must divide model.dim: expected a divisor of {}, got {}", c.dim, c.heads);
  check(c.heads * c.head_dim == c.dim, ErrorCode::Config,
        "model.head_dim must be model.dim / model.heads: expected {}, got {}; leave it out, and it "
        "follows, or --set model.head_dim=0",
        c.dim / c.heads, c.head_dim);
  check(c.heads % c.kv_heads == 0, ErrorCode::Config,
        "model.kv_heads must divide model.heads: expected a divisor of {}, got {}", c.heads,
        c.kv_heads);
  check(c.head_dim % 2 == 0, ErrorCode::Config,
        "model.head_dim must be even, since rotary embedding turns pairs: got {} (dim {} / heads "
        "{})",
        c.head_dim, c.dim, c.heads);
  check(c.rope.scaling == RopeScaling::None || c.rope.high_freq_factor > c.rope.low_freq_factor,
        ErrorCode::Config,
        "model.rope.high_freq_factor must be above model.rope.low_freq_factor: expected more than "
        "{}, got {}",
        c.rope.low_freq_factor, c.rope.high_freq_factor);
}

int64_t parameter_count(const ModelConfig& c) {
  const int64_t attention = c.qkv_rows() * c.dim + c.dim * c.heads * c.head_dim;
  const int64_t mlp = c.up_rows() * c.dim + c.dim * c.ffn;
  const int64_t norms = 2 * c.dim + (c.qk_norm ? 2 * c.head_dim : 0);
  const int64_t vocabulary = (c.tied ? 1 : 2) * c.vocab * c.dim;
  return vocabulary + c.layers * (attention + mlp + norms) + c.dim;
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
