#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "checkpoint/exchange/gguf_export.h"
#include "checkpoint/hf_fixture.h"
#include "core/error.h"

namespace ingot::checkpoint_test {
namespace {

// What a reader of the format finds: just enough of one.
class Gguf {
 public:
  struct Entry {
    std::vector<uint64_t> extents;
    uint32_t type = 0;
    uint64_t offset = 0;
  };

  explicit Gguf(std::string file) : file_(std::move(file)) {
    EXPECT_EQ(file_.substr(0, 4), "GGUF");
    at_ = 4;
    EXPECT_EQ(take<uint32_t>(), 3u);
    const auto tensors = take<uint64_t>(), keys = take<uint64_t>();
    for (uint64_t i = 0; i < keys; ++i) {
      const std::string key = text();
      metadata[key] = value(take<uint32_t>());
    }
    for (uint64_t i = 0; i < tensors; ++i) {
      const std::string name = text();
      Entry& entry = entries[name];
      entry.extents.resize(take<uint32_t>());
      for (uint64_t& extent : entry.extents) extent = take<uint64_t>();
      entry.type = take<uint32_t>();
      entry.offset = take<uint64_t>();
      EXPECT_EQ(entry.offset % 32, 0u);
    }
    data_ = (at_ + 31) / 32 * 32;
  }

  std::string bytes(const std::string& name, size_t size) const {
    return file_.substr(data_ + entries.at(name).offset, size);
  }
  std::vector<float> floats(const std::string& name, size_t count) const {
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes(name, 4 * count).data(), 4 * count);
    return values;
  }

  std::map<std::string, Json> metadata;
  std::map<std::string, Entry> entries;

 private:
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, file_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  std::string text() {
    const auto size = take<uint64_t>();
    at_ += size;
    return file_.substr(at_ - size, size);
  }
  Json value(uint32_t type) {
    switch (type) {
      case 4:
        return take<uint32_t>();
      case 5:
        return take<int32_t>();
      case 6:
        return take<float>();
      case 7:
        return take<uint8_t>() != 0;
      case 8:
        return text();
      default: {
        const auto of = take<uint32_t>();
        const auto count = take<uint64_t>();
        Json list = Json::array();
        for (uint64_t i = 0; i < count; ++i) list.push_back(value(of));
        return list;
      }
    }
  }

  std::string file_;
  size_t at_ = 0, data_ = 0;
};

ModelConfig small_model() {
  ModelConfig model = parse_hf_config(llama_config().dump(), "").model;
  model.dim = 32;
  model.head_dim = 16;
  model.ffn = 48;  // no whole blocks
  return model;
}

Gguf exported(const ModelConfig& model, GgufType type, const Companions& companions = {}) {
  const MadeWeights weights(hf_value, model);
  const auto storage = memory_storage();
  export_gguf(*storage, weights, companions, "model.gguf", type);
  EXPECT_EQ(storage->list("."), std::vector<std::string>{"model.gguf"});
  return Gguf(read_text(*storage, "model.gguf"));
}

TEST(Gguf, TheModelAndItsTokensAreNamed) {
  Companions companions;
  companions.hf_files["chat_template.jinja"] = "{{ messages }}";
  const Gguf file = exported(small_model(), GgufType::F32, companions);
  const auto& facts = file.metadata;
  EXPECT_EQ(facts.at("general.architecture"), "llama");
  EXPECT_EQ(facts.at("llama.embedding_length"), 32);
  EXPECT_EQ(facts.at("llama.attention.head_count_kv"), 1);
  EXPECT_EQ(facts.at("llama.rope.freq_base"), 10000.0f);
  EXPECT_EQ(facts.at("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").size(), 300u);  // padded to the vocabulary
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").at(256), "<|endoftext|>");
  EXPECT_EQ(facts.at("tokenizer.ggml.token_type").at(256), 3);
  EXPECT_EQ(facts.at("tokenizer.ggml.eos_token_id"), 256);
  EXPECT_EQ(facts.at("tokenizer.chat_template"), "{{ messages }}");
  EXPECT_EQ(file.entries.at("blk.1.ffn_gate.weight").extents, (std::vector<uint64_t>{32, 48}));
}

TEST(Gguf, QueriesAndKeysStandInPairsUnderLlamaAndInHalvesElsewhere) {
  ModelConfig model = small_model();
  const auto value = [](int64_t row) { return hf_value("layers.0.qkv.weight", row * 32); };
  const Gguf llama = exported(model, GgufType::F32);
  const auto q = llama.floats("blk.0.attn_q.weight", 32 * 32);
  EXPECT_EQ(q[0 * 32], value(0));
  EXPECT_EQ(q[1 * 32], value(8));  // the other half of the head of 16
  EXPECT_EQ(q[2 * 32], value(1));
  EXPECT_EQ(llama.floats("blk.0.attn_v.weight", 512)[1 * 32], value(48 + 1));
  model.qk_norm = true;
  const Gguf qwen = exported(model, GgufType::F32);
  EXPECT_EQ(qwen.metadata.at("general.architecture"), "qwen3");
  EXPECT_EQ(qwen.floats("blk.0.attn_q.weight", 1024)[1 * 32], value(1));
  EXPECT_EQ(qwen.entries.at("blk.0.attn_q_norm.weight").extents, std::vector<uint64_t>{16});
}

TEST(Gguf, Q8HasAScaleForEveryBlockAndFallsBackWhereRowsAreNoWholeBlocks) {
  const Gguf file = exported(small_model(), GgufType::Q8_0);
  EXPECT_EQ(file.entries.at("blk.0.ffn_up.weight").type, 8u);
  EXPECT_EQ(file.entries.at("blk.0.ffn_down.weight").type, 1u);   // rows of 48
  EXPECT_EQ(file.entries.at("blk.0.attn_norm.weight").type, 0u);  // a vector
  const std::string block = file.bytes("token_embd.weight", 34);
  uint16_t bits = 0;
  std::memcpy(&bits, block.data(), 2);
  const float scale = F16{bits}.to_float();
  for (int64_t i = 0; i < 32; ++i) {
    const float value = hf_value("embedding.weight", i);
    EXPECT_NEAR(static_cast<float>(static_cast<int8_t>(block[static_cast<size_t>(2 + i)])) * scale,
                value, 0.57f * scale);  // half a step, and the scale in 16 bits
  }
}

TEST(Gguf, SixteenBitsAreRoundedToTheNearest) {
  const float value = hf_value("embedding.weight", 0);
  const std::string f16 = exported(small_model(), GgufType::F16).bytes("token_embd.weight", 2);
  const std::string bf16 = exported(small_model(), GgufType::BF16).bytes("token_embd.weight", 2);
  const uint16_t expected[] = {F16::from_float(value).bits, Bf16::from_float(value).bits};
  EXPECT_EQ(std::memcmp(f16.data(), &expected[0], 2), 0);
  EXPECT_EQ(std::memcmp(bf16.data(), &expected[1], 2), 0);
}

TEST(Gguf, WhatLlamaCppWouldComputeOtherwiseIsRefused) {
  ModelConfig model = small_model();
  model.window = 8;
  EXPECT_TRUE(contains(error_of([&] { exported(model, GgufType::F32); }), "window"));
  model.window = model.context;
  EXPECT_EQ(error_of([&] { exported(model, GgufType::F32); }), "");
  ModelConfig gemma = small_model();
  gemma.norm_place = NormPlace::Both;
  gemma.activation = Activation::GeGlu;
  gemma.embedding_scale = std::sqrt(32.0);
  gemma.attn_scale = 0.25;
  EXPECT_EQ(error_of([&] { exported(gemma, GgufType::F32); }), "");
  gemma.attn_scale = 0.2;
  EXPECT_TRUE(contains(error_of([&] { exported(gemma, GgufType::F32); }), "attn_scale"));
  ModelConfig yarn = small_model();
  yarn.rope.scaling = RopeScaling::Yarn;
  EXPECT_EQ(error_of([&] { exported(yarn, GgufType::F32); }), "");
  yarn.rope.attention_factor = 1.5;
  EXPECT_TRUE(contains(error_of([&] { exported(yarn, GgufType::F32); }), "attention_factor"));
}

TEST(Gguf, LlamaThreesScalingIsATensorOfDivisors) {
  ModelConfig model = small_model();
  model.rope.scaling = RopeScaling::Llama3;
  model.rope.original_context = 64;
  const auto divisors = exported(model, GgufType::F32).floats("rope_freqs.weight", 8);
  EXPECT_EQ(divisors.front(), 1.0f);
  EXPECT_EQ(divisors.back(), 8.0f);
}

}  // namespace
}  // namespace ingot::checkpoint_test
