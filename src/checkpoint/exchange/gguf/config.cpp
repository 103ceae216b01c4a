#include "checkpoint/exchange/gguf/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "checkpoint/exchange/gguf/model.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "spec/model/model_settings.h"

namespace ingot {
namespace {

const Architecture& architecture_named(const std::string& wanted) {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) {
    if (architecture.gguf == wanted) return architecture;
    if (std::ranges::find(names, architecture.gguf) == names.end())
      names.push_back(architecture.gguf);
  }
  throw Error(ErrorCode::Data,
              fmt::format("the architecture {} is not known here: expected one of {}",
                          on_one_line(wanted.substr(0, 100)), fmt::join(names, ", ")));
}

// What `value` is as a number that, by `as_stored`, is stored in 32 bits: the one of fewest digits.
template <class AsStored>
double fewest_digits(double value, const AsStored& as_stored) {
  const float wanted = as_stored(value);
  for (int digits = 1; digits < 17; ++digits) {
    const std::string text = fmt::format("{:.{}g}", value, digits);
    double shorter = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), shorter);
    if (as_stored(shorter) == wanted) return shorter;
  }
  return value;
}

class Reader {
 public:
  Reader(const GgufHeader& header, const Architecture& architecture)
      : header_(header),
        fields_(header),
        gguf_(architecture.gguf),
        prefix_(architecture.gguf + ".") {
    for (const Setting& setting : model_settings(model_))
      for (const auto& [name, value] : architecture.implied)
        if (setting.name == "model." + name) setting.set(value);
    scales_embedding_ = architecture.scales_embedding;
  }

  ModelConfig read(const std::vector<float>& divisors, bool tied) {
    check_general();
    read_shape();
    read_tensors(tied);
    read_window();
    if (model_.positions == Positions::Rotary) read_rope(divisors);
    if (gguf_ == "gemma2") read_gemma2();
    for (const auto& [key, only] : kOnly) expect(key, only);
    check(fields_.flag(prefix_ + "attention.causal", true), ErrorCode::Data,
          "{}attention.causal is false: expected a model that sees what came before only", prefix_);
    for (const char* key : {"rope.scaling.finetuned", "tensor_data_layout"})
      fields_.find(prefix_ + key);  // of how it was made
    if (const auto others = fields_.others(prefix_); !others.empty())
      throw Error(ErrorCode::Data,
                  fmt::format("{} is not known here and could change what the model computes; get "
                              "its Hugging Face folder instead",
                              fmt::join(others, ", ")));
    validate(model_);
    return model_;
  }

 private:
  // Of what other models have, and what says that this one has it not.
  static constexpr std::pair<std::string_view, int64_t> kOnly[] = {
      {"expert_count", 0},         {"expert_used_count", 0},
      {"expert_group_count", 0},   {"pooling_type", 0},
      {"nextn_predict_layers", 0}, {"rope.scaling.yarn_beta_fast", 32},
      {"expert_shared_count", 0},  {"rope.scaling.yarn_beta_slow", 1}};

  int64_t integer(std::string_view key) { return fields_.integer(prefix_ + std::string(key)); }
  int64_t integer(std::string_view key, int64_t otherwise) {
    return fields_.integer(prefix_ + std::string(key), otherwise);
  }
  double number(std::string_view key, double otherwise) {
    return fields_.number(prefix_ + std::string(key), otherwise);
  }
  // Where the key is there at all.
  void expect(std::string_view key, int64_t only) {
    const double given = number(key, static_cast<double>(only));
    check(given == static_cast<double>(only), ErrorCode::Data,
          "{}{} is {}: only {} is computed here; get the model's Hugging Face folder instead",
          prefix_, key, given, only);
  }

  void check_general() {
    const std::string type = fields_.text("general.type", "model");
    check(type == "model", ErrorCode::Data, "general.type is {}: expected a whole model",
          on_one_line(type.substr(0, 100)));
    const int64_t parts = fields_.integer("split.count", 1);
    check(parts <= 1, ErrorCode::Data,
          "it is one of {} parts of a model: join them with llama-gguf-split --merge", parts);
  }

  void read_shape() {
    ModelConfig& m = model_;
    m.dim = integer("embedding_length");
    m.layers = integer("block_count");
    m.ffn = integer("feed_forward_length");
    m.context = integer("context_length");
    m.heads = integer("attention.head_count");
    check(m.heads > 0, ErrorCode::Data, "{}attention.head_count: expected at least 1, got {}",
          prefix_, m.heads);
    m.kv_heads = integer("attention.head_count_kv", m.heads);
    m.head_dim = integer("attention.key_length", m.dim / m.heads);
    expect("attention.value_length", m.head_dim);
    m.norm_eps =
        fields_.number(prefix_ + (m.norm == NormKind::Layer ? "attention.layer_norm_epsilon"
                                                            : "attention.layer_norm_rms_epsilon"));
    m.activation = gguf_activation(gguf_);
    m.embedding_scale = scales_embedding_ ? std::sqrt(static_cast<double>(m.dim)) : 1.0;
  }

  // What no key says, and the tensors do.
  void read_tensors(bool tied) {
    const auto embedding = header_.tensors.find("token_embd.weight");
    check(embedding != header_.tensors.end(), ErrorCode::Data, "it holds no token_embd.weight");
    model_.vocab = embedding->second.tensor.shape[0];
    expect("vocab_size", model_.vocab);
    const auto has = [&](const char* name) { return header_.tensors.contains(name); };
    model_.tied = tied;
    model_.qkv_bias |= has("blk.0.attn_q.bias");
    model_.out_bias |= has("blk.0.attn_output.bias");
    model_.mlp_bias |= has("blk.0.ffn_up.bias");
  }

  // Elsewhere than under gemma2 none is computed.
  void read_window() {
    constexpr int64_t kOfGemma2 = 4096;
    const bool is_gemma2 = gguf_ == "gemma2";
    const int64_t window = integer("attention.sliding_window", is_gemma2 ? kOfGemma2 : 0);
    expect("attention.sliding_window_pattern", 2);
    if (!is_gemma2) {
      check(window == 0 || window >= model_.context, ErrorCode::Data,
            "{}attention.sliding_window is {}: llama.cpp knows none of {}, so what is meant cannot "
            "be told; get the model's Hugging Face folder instead",
            prefix_, window, gguf_);
      return;
    }
    if (window == 0 || window == model_.context) return;  // an export without windows says so
    model_.window = window;
    model_.window_layers = model_.layers > 1 ? "wf" : "w";
  }

  void read_rope(const std::vector<float>& divisors) {
    RopeConfig& rope = model_.rope;
    rope.style = gguf_rope_style(gguf_);
    expect("rope.dimension_count", model_.head_dim);
    rope.theta = number("rope.freq_base", rope.theta);
    const std::string type = fields_.text(prefix_ + "rope.scaling.type", "linear");
    const double factor = number("rope.scaling.factor", 1.0);
    const int64_t original = integer("rope.scaling.original_context_length", model_.context);
    check(type == "none" || type == "linear" || type == "yarn", ErrorCode::Data,
          "{}rope.scaling.type: expected none, linear or yarn, got {}", prefix_,
          on_one_line(type.substr(0, 100)));
    if (type == "yarn") {
      rope.scaling = RopeScaling::Yarn;
      rope.factor = factor;
      rope.original_context = original;
      check(factor >= 1.0, ErrorCode::Data,
            "{}rope.scaling.factor: expected at least 1 under yarn, got {}", prefix_, factor);
      read_yarn_factor();
    } else {
      expect("rope.scaling.attn_factor", 1);
      if (type == "linear" && factor != 1.0 && factor != 0.0) {
        rope.scaling = RopeScaling::Linear;
        rope.factor = factor;
      }
    }
    if (divisors.empty()) return;
    check(rope.scaling == RopeScaling::None && set_rope_divisors(model_, divisors), ErrorCode::Data,
          "rope_freqs.weight: expected divisors of llama3 scaling and no other scaling beside "
          "them; get the model's Hugging Face folder instead");
  }

  void read_yarn_factor() {
    const std::string key = prefix_ + "rope.scaling.attn_factor";
    if (fields_.find(key) == nullptr) return;
    const double own = gguf_yarn_factor(model_);
    model_.rope.attention_factor = fewest_digits(fields_.number(key, 1.0) * own, [&](double whole) {
      return static_cast<float>(whole / own);
    });
  }

  void read_gemma2() {
    constexpr double kAttnCap = 50.0, kCap = 30.0;  // where nothing is said
    model_.attn_softcap = number("attn_logit_softcapping", kAttnCap);
    model_.softcap = number("final_logit_softcapping", kCap);
    model_.attn_scale = gguf_attn_scale(model_, gguf_);
    check(model_.tied, ErrorCode::Data,
          "it holds an output.weight of its own, and llama.cpp takes the embedding for the head of "
          "gemma2");
  }

  const GgufHeader& header_;
  GgufFields fields_;
  std::string gguf_, prefix_;
  ModelConfig model_;
  bool scales_embedding_ = false;
};

}  // namespace

void GgufFields::refuse(std::string_view key, std::string_view why) {
  throw Error(ErrorCode::Data, fmt::format("{}: {}", key, why));
}

const GgufValue* GgufFields::find(std::string_view key) {
  taken_.emplace(key);
  const auto found = header_.metadata.find(key);
  return found == header_.metadata.end() ? nullptr : &found->second;
}

const GgufValue& GgufFields::must_find(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) refuse(key, "it is missing");
  return *value;
}

int64_t GgufFields::integer(std::string_view key) {
  return read_value(key, must_find(key), [](const GgufValue& value) { return value.integer(); });
}

int64_t GgufFields::integer(std::string_view key, int64_t otherwise) {
  return find(key) == nullptr ? otherwise : integer(key);
}

double GgufFields::number(std::string_view key) {
  return read_value(key, must_find(key), [](const GgufValue& value) { return value.number(); });
}

double GgufFields::number(std::string_view key, double otherwise) {
  return find(key) == nullptr ? otherwise : number(key);
}

bool GgufFields::flag(std::string_view key, bool otherwise) {
  const GgufValue* value = find(key);
  if (value == nullptr) return otherwise;
  return read_value(key, *value, [](const GgufValue& given) { return given.flag(); });
}

std::string GgufFields::text(std::string_view key, std::string_view otherwise) {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  return read_value(key, *value, [](const GgufValue& given) { return std::string(given.text()); });
}

std::vector<std::string> GgufFields::others(std::string_view prefix) const {
  std::vector<std::string> keys;
  for (auto at = header_.metadata.lower_bound(prefix);
       at != header_.metadata.end() && at->first.starts_with(prefix); ++at)
    if (!taken_.contains(at->first)) keys.push_back(on_one_line(at->first.substr(0, 100)));
  return keys;
}

GgufModel gguf_model_of(const GgufHeader& header, const std::vector<float>& divisors, bool tied) {
  const std::string name = GgufFields(header).text("general.architecture", "");
  check(!name.empty(), ErrorCode::Data, "general.architecture: it is missing");
  const Architecture& architecture = architecture_named(name);
  return {&architecture, Reader(header, architecture).read(divisors, tied)};
}

void warn_of_ignored_keys(const GgufHeader& header, std::string_view architecture) {
  const auto begins = [](std::string_view key, std::string_view scope) {
    return key.size() > scope.size() && key.starts_with(scope) && key[scope.size()] == '.';
  };
  std::vector<std::string> ignored;
  for (const auto& [key, value] : header.metadata) {
    const bool is_read = begins(key, "general") || begins(key, "tokenizer") ||
                         begins(key, "split") || begins(key, "quantize") ||
                         begins(key, architecture);
    if (!is_read) ignored.push_back(on_one_line(key.substr(0, 100)));
  }
  if (ignored.empty()) return;
  constexpr size_t kShown = 10;
  const size_t count = ignored.size();
  ignored.resize(std::min(count, kShown));
  log::warn("gguf_metadata",
            {{"why", fmt::format("{} of its keys are none that llama.cpp "
                                 "reads, and were ignored: {}{}",
                                 count, fmt::join(ignored, ", "), count > kShown ? ", …" : "")}});
}

}  // namespace ingot
