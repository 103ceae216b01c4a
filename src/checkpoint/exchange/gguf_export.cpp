#include "checkpoint/exchange/gguf_export.h"

#include <cmath>
#include <numbers>

#include "checkpoint/exchange/hf_config.h"
#include "checkpoint/exchange/hf_tensors.h"
#include "core/error.h"
#include "spec/llama_table.h"

namespace ingot {
namespace {

std::vector<TensorRow> gguf_rows(const Architecture& architecture) {
  std::vector<TensorRow> rows = {{"embedding.weight", {"token_embd.weight"}},
                                 {"position.weight", {"position_embd.weight"}},
                                 {"head.weight", {"output.weight"}}};
  const auto both = [&](const std::string& ours, const std::vector<std::string>& theirs) {
    for (const char* what : {".weight", ".bias"}) {
      TensorRow row{ours + what, {}};
      for (const std::string& name : theirs) row.theirs.push_back(name + what);
      rows.push_back(row);
    }
  };
  both("layers.{}.attn_norm", {"blk.{}.attn_norm"});
  if (architecture.gguf == "gpt2") {
    both("layers.{}.qkv", {"blk.{}.attn_qkv"});
    both("layers.{}.up", {"blk.{}.ffn_up"});
  } else {
    both("layers.{}.qkv", {"blk.{}.attn_q", "blk.{}.attn_k", "blk.{}.attn_v"});
    both("layers.{}.up", {"blk.{}.ffn_gate", "blk.{}.ffn_up"});
  }
  both("layers.{}.q_norm", {"blk.{}.attn_q_norm"});
  both("layers.{}.k_norm", {"blk.{}.attn_k_norm"});
  both("layers.{}.out", {"blk.{}.attn_output"});
  both("layers.{}.attn_post_norm", {"blk.{}.post_attention_norm"});
  both("layers.{}.mlp_norm", {"blk.{}.ffn_norm"});
  both("layers.{}.down", {"blk.{}.ffn_down"});
  both("layers.{}.mlp_post_norm", {"blk.{}.post_ffw_norm"});
  both("final_norm", {"output_norm"});
  return rows;
}

// llama.cpp turns neighbours under the name llama, and halves under all others.
RopeStyle rope_style_of(const Architecture& architecture) {
  return architecture.gguf == "llama" ? RopeStyle::Interleaved : RopeStyle::HalfSplit;
}

// By how much llama3 scaling divides each frequency, (D/2).
std::vector<float> llama3_divisors(const ModelConfig& m) {
  const RopeConfig& r = m.rope;
  std::vector<float> divisors;
  for (int64_t i = 0; i < m.head_dim / 2; ++i) {
    const double wavelength =
        2.0 * std::numbers::pi *
        std::pow(r.theta, 2.0 * static_cast<double>(i) / static_cast<double>(m.head_dim));
    const auto original = static_cast<double>(r.original_context);
    double divisor = 1.0;
    if (wavelength > original / r.low_freq_factor) {
      divisor = r.factor;
    } else if (wavelength >= original / r.high_freq_factor) {
      const double smooth =
          (original / wavelength - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor);
      divisor = 1.0 / ((1.0 - smooth) / r.factor + smooth);
    }
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

void check_computed_there(const ModelConfig& m, const Architecture& architecture) {
  check(m.window == 0 || m.window >= m.context || architecture.gguf == "gemma2", ErrorCode::Config,
        "llama.cpp knows no attention window of {}: beyond {} tokens it would compute another "
        "model; use --to hf",
        architecture.name, m.window);
  // Of windows and scores it knows Gemma's own alone: every other layer, and the root of a width.
  const double own_scale = 1.0 / std::sqrt(static_cast<double>(m.head_dim));
  check(m.window == 0 || m.window >= m.context || m.window_layers == "wf", ErrorCode::Config,
        "llama.cpp knows windows in every other layer only, got model.window_layers = {}; use --to "
        "hf",
        m.window_layers);
  check(m.attn_scale == 0 || std::abs(m.attn_scale / own_scale - 1.0) < 1e-6, ErrorCode::Config,
        "llama.cpp scales attention by 1/sqrt(head_dim) = {:.6g} only, got model.attn_scale = "
        "{:.6g}; use --to hf",
        own_scale, m.attn_scale);
  check(m.rope.scaling != RopeScaling::Dynamic, ErrorCode::Config,
        "llama.cpp knows no dynamic scaling of rotary frequencies; use --to hf");
  // It takes yarn's own factor of queries and keys, and the file has no place for another.
  const double own_factor = 0.1 * std::log(m.rope.factor) + 1.0;
  const bool has_own = m.rope.scaling != RopeScaling::Yarn || m.rope.attention_factor == 0 ||
                       std::abs(m.rope.attention_factor / own_factor - 1.0) < 1e-6;
  check(has_own, ErrorCode::Config,
        "llama.cpp computes yarn with a factor of {:.6g} only, got model.rope.attention_factor = "
        "{:.6g}; use --to hf",
        own_factor, m.rope.attention_factor);
}

void add_rope(GgufMetadata& metadata, const std::string& prefix, const ModelConfig& m) {
  metadata.add_u32(prefix + "rope.dimension_count", m.head_dim);
  metadata.add_f32(prefix + "rope.freq_base", m.rope.theta);
  if (m.rope.scaling == RopeScaling::Linear || m.rope.scaling == RopeScaling::Yarn) {
    const bool yarn = m.rope.scaling == RopeScaling::Yarn;
    metadata.add(prefix + "rope.scaling.type", yarn ? "yarn" : "linear");
    metadata.add_f32(prefix + "rope.scaling.factor", m.rope.factor);
    if (!yarn) return;
    metadata.add_u32(prefix + "rope.scaling.original_context_length", m.rope.original_context);
    metadata.add_f32(prefix + "rope.scaling.yarn_beta_fast", m.rope.beta_fast);
    metadata.add_f32(prefix + "rope.scaling.yarn_beta_slow", m.rope.beta_slow);
  }
}

void add_model(GgufMetadata& metadata, const ModelConfig& m, const Architecture& architecture) {
  const std::string prefix = architecture.gguf + ".";
  metadata.add_u32(prefix + "vocab_size", m.vocab);
  metadata.add_u32(prefix + "context_length", m.context);
  metadata.add_u32(prefix + "embedding_length", m.dim);
  metadata.add_u32(prefix + "block_count", m.layers);
  metadata.add_u32(prefix + "feed_forward_length", m.ffn);
  metadata.add_u32(prefix + "attention.head_count", m.heads);
  metadata.add_u32(prefix + "attention.head_count_kv", m.kv_heads);
  metadata.add_u32(prefix + "attention.key_length", m.head_dim);
  metadata.add_u32(prefix + "attention.value_length", m.head_dim);
  metadata.add_f32(prefix + (m.norm == NormKind::Layer ? "attention.layer_norm_epsilon"
                                                       : "attention.layer_norm_rms_epsilon"),
                   m.norm_eps);
  if (m.positions == Positions::Rotary) add_rope(metadata, prefix, m);
  if (m.window > 0) metadata.add_u32(prefix + "attention.sliding_window", m.window);
  if (m.attn_softcap > 0) metadata.add_f32(prefix + "attn_logit_softcapping", m.attn_softcap);
  if (m.softcap > 0) metadata.add_f32(prefix + "final_logit_softcapping", m.softcap);
}

uint32_t file_type(GgufType type) {
  switch (type) {
    case GgufType::F32:
      return 0;
    case GgufType::F16:
      return 1;
    case GgufType::Q8_0:
      return 7;
    case GgufType::BF16:
      return 32;
  }
  throw Error(ErrorCode::Internal, "unknown GGUF type");
}

GgufType type_of(const TensorSpec& row, GgufType wanted) {
  if (row.shape.rank() < 2 || row.name == "position.weight") return GgufType::F32;
  if (wanted == GgufType::Q8_0 && row.shape[1] % kGgufBlock != 0) return GgufType::F16;
  return wanted;
}

}  // namespace

void export_gguf(Storage& storage, const Weights& weights, const Companions& companions,
                 const std::string& path, GgufType type) {
  check(!storage.exists(path), ErrorCode::Usage,
        "'{}' exists: choose another name, or remove it first", path);
  const Architecture& architecture =
      architecture_of(weights.model(), companions.origin.architecture);
  const auto styled = with_rope_style(weights, rope_style_of(architecture));
  const ModelConfig& model = styled->model();
  check_computed_there(model, architecture);

  GgufMetadata metadata;
  metadata.add("general.architecture", architecture.gguf);
  metadata.add("general.name", file_name(path));
  metadata.add_u32("general.file_type", file_type(type));
  add_model(metadata, model, architecture);
  add_gguf_tokenizer(metadata, companions, model.vocab);

  struct Source {
    std::string parameter;
    ShardRange range;
  };
  std::vector<GgufTensor> tensors;
  std::vector<Source> sources;
  const std::vector<TensorRow> rows = gguf_rows(architecture);
  const TensorTable parameters = llama_parameters(model);
  for (const TensorSpec& row : parameters.rows()) {
    int64_t first = 0;
    for (const ForeignTensor& tensor : foreign_tensors_of(row, rows)) {
      tensors.push_back({tensor.name, tensor.shape, type_of(row, type)});
      sources.push_back({row.name, {first, first + tensor.shape.numel()}});
      first += tensor.shape.numel();
    }
  }
  const std::vector<float> divisors =
      model.rope.scaling == RopeScaling::Llama3 ? llama3_divisors(model) : std::vector<float>();
  if (!divisors.empty())
    tensors.push_back({"rope_freqs.weight", {static_cast<int64_t>(divisors.size())}});

  const std::string part = path + ".part";
  try {
    write_gguf(storage, part, metadata, tensors, [&](size_t i, const auto& put) {
      if (i == sources.size()) return put(divisors);
      for_each_piece(*styled, sources[i].parameter, sources[i].range, DType::F32,
                     [&](const Tensor& piece) {
                       put({piece.as<float>(), static_cast<size_t>(piece.numel())});
                     });
    });
    storage.rename(part, path);
    storage.sync_directory(parent_path(path));
  } catch (...) {
    if (storage.exists(part)) storage.remove(part);
    throw;
  }
}

}  // namespace ingot
