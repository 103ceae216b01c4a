// A small Hugging Face folder in memory, whose pieces tests replace.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/fixture.h"
#include "checkpoint/safetensors.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::checkpoint_test {

using Json = nlohmann::json;

inline Json llama_config() {
  return Json::parse(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "vocab_size": 300, "max_position_embeddings": 32,
    "rms_norm_eps": 1e-5, "hidden_act": "silu", "rope_theta": 10000.0,
    "tie_word_embeddings": false, "torch_dtype": "float32", "eos_token_id": [1, 2]})");
}

// A tensor of a file; element i is value(name, i).
inline float hf_value(const std::string& name, int64_t i) {
  return RandomStream(7, Purpose::Test, tensor_id(name), 3).normal(static_cast<uint64_t>(i));
}

inline void write_tensors(Storage& storage, const std::string& path,
                          const std::vector<SafetensorsTensor>& tensors) {
  write_safetensors(
      storage, path, tensors,
      [&](size_t at, const PutElements& put) {
        const auto& [name, shape, dtype] = tensors[at];
        std::vector<float> values;
        for (int64_t i = 0; i < shape.numel(); ++i) values.push_back(hf_value(name, i));
        std::vector<std::byte> bytes(static_cast<size_t>(shape.numel() * size_of(dtype)));
        const Tensor out = Tensor::contiguous(bytes.data(), dtype, {shape.numel()});
        convert_elements(Tensor::contiguous(values.data(), DType::F32, {shape.numel()}), out);
        put(out);
      },
      {{"format", "pt"}});
}

inline std::vector<SafetensorsTensor> tensors_of(const Json& config, DType dtype = DType::F32) {
  const HfModel hf = parse_hf_config(config.dump(), "config.json");
  std::vector<SafetensorsTensor> tensors;
  const TensorTable parameters = transformer_parameters(hf.model);
  for (const TensorSpec& row : parameters.rows())
    for (const ForeignTensor& tensor : hf_tensors_of(row, *hf.architecture))
      tensors.push_back({tensor.name, tensor.shape, dtype});
  return tensors;
}

inline std::shared_ptr<Storage> hf_storage(const Json& config, DType dtype = DType::F32) {
  auto storage = memory_storage();
  storage->make_directories("hf");
  overwrite(*storage, "hf/config.json", config.dump());
  overwrite(*storage, "hf/tokenizer", "ingot tokenizer: byte\n");
  write_tensors(*storage, "hf/model.safetensors", tensors_of(config, dtype));
  return storage;
}

inline std::vector<float> values_in(const Weights& weights, const std::string& name) {
  const TensorTable parameters = transformer_parameters(weights.model());
  const int64_t numel = parameters[parameters.find(name)].shape.numel();
  std::vector<float> values(static_cast<size_t>(numel));
  weights.read(name, {0, numel}, Tensor::contiguous(values.data(), DType::F32, {numel}));
  return values;
}

inline std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ingot::checkpoint_test
