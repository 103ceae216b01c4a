#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "checkpoint/gguf_fixture.h"
#include "core/error/error.h"
#include "support/forwarding_storage.h"

namespace ingot::checkpoint_test {
namespace {

TEST(Gguf, TheModelAndItsTokensAreNamed) {
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.hf_files["chat_template.jinja"] = "{{ messages }}";
  const Gguf file = exported(small_model(), GgufType::F32, auxiliary_files);
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

TEST(Gguf, TheNameOfTheFileChangesNothingInIt) {
  const MadeWeights weights(hf_value, small_model());
  const auto storage = memory_storage();
  for (const char* name : {"model.gguf", "phi3.gguf"})
    export_gguf(*storage, weights, {}, name, GgufType::F32);
  EXPECT_EQ(read_text(*storage, "model.gguf"), read_text(*storage, "phi3.gguf"));
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

ModelConfig gemma_model() {
  ModelConfig model = small_model();
  model.norm_place = NormPlace::Both;
  model.activation = Activation::GeGlu;
  model.embedding_scale = std::sqrt(32.0);
  model.attn_scale = 0.25;
  model.tied = true;
  model.attn_softcap = 50.0;
  model.softcap = 30.0;
  return model;
}

ModelConfig olmo_model() {
  ModelConfig model = small_model();
  model.norm_place = NormPlace::After;
  model.qk_norm = true;
  model.qk_norm_span = QkNormSpan::Projection;
  return model;
}

std::string refusal_of(const ModelConfig& model) {
  return error_of([&] { exported(model, GgufType::F32); });
}

TEST(Gguf, WindowsThatLlamaCppDoesNotComputeAreRefused) {
  ModelConfig model = small_model();
  model.window = 8;
  EXPECT_TRUE(contains(refusal_of(model), "window"));
  model.window = model.context;
  EXPECT_EQ(refusal_of(model), "");
  ModelConfig gemma = gemma_model();
  gemma.window = 8;
  gemma.window_layers = "wf";
  EXPECT_EQ(refusal_of(gemma), "");
  gemma.window_layers = "fw";
  EXPECT_TRUE(contains(refusal_of(gemma), "window_layers"));
}

TEST(Gguf, ActivationsOfOtherModelsAreRefused) {
  ModelConfig model = small_model();
  model.activation = Activation::GeGlu;
  EXPECT_TRUE(contains(refusal_of(model), "model.activation"));
  ModelConfig gemma = gemma_model();
  gemma.activation = Activation::SwiGlu;
  EXPECT_TRUE(contains(refusal_of(gemma), "model.activation"));
}

TEST(Gguf, WhatGemmaIsInLlamaCppInAnyCaseIsAskedOfIt) {
  EXPECT_EQ(refusal_of(gemma_model()), "");
  ModelConfig model = gemma_model();
  model.attn_softcap = 0;
  EXPECT_TRUE(contains(refusal_of(model), "attn_softcap"));
  model = gemma_model();
  model.softcap = 0;
  EXPECT_TRUE(contains(refusal_of(model), "softcap"));
  model = gemma_model();
  model.tied = false;
  EXPECT_TRUE(contains(refusal_of(model), "model.tied"));
  model = gemma_model();
  model.attn_scale = 1.0 / std::sqrt(20.0);
  EXPECT_TRUE(contains(refusal_of(model), "attn_scale"));
  // Of so many layers it is taken for the 27B, which scales by the width of the model.
  model = gemma_model();
  model.layers = 46;
  model.heads = 4;
  EXPECT_TRUE(contains(refusal_of(model), "attn_scale"));
  model.attn_scale = 1.0 / std::sqrt(32.0 / 4.0);
  EXPECT_EQ(refusal_of(model), "");
}

TEST(Gguf, AGemmaWithoutAWindowSaysSo) {
  const Gguf file = exported(gemma_model(), GgufType::F32);
  EXPECT_EQ(file.metadata.at("gemma2.attention.sliding_window"), 32);  // its context
  EXPECT_EQ(file.metadata.at("gemma2.attn_logit_softcapping"), 50.0f);
  EXPECT_EQ(file.metadata.at("gemma2.final_logit_softcapping"), 30.0f);
  EXPECT_FALSE(file.entries.contains("output.weight"));
}

TEST(Gguf, WhatANameHasNoPlaceForIsRefused) {
  ModelConfig qwen = small_model();
  qwen.qk_norm = true;
  qwen.head_dim = 12;
  EXPECT_EQ(refusal_of(qwen), "");
  qwen.rope.scaling = RopeScaling::Llama3;
  EXPECT_TRUE(contains(refusal_of(qwen), "llama3"));
  qwen.rope.scaling = RopeScaling::None;
  qwen.qkv_bias = qwen.out_bias = true;
  EXPECT_TRUE(contains(refusal_of(qwen), "out_bias"));
  ModelConfig olmo = olmo_model();
  EXPECT_EQ(refusal_of(olmo), "");
  olmo.head_dim = 8;
  EXPECT_TRUE(contains(refusal_of(olmo), "head_dim"));
  ModelConfig llama = small_model();
  llama.qkv_bias = llama.out_bias = llama.mlp_bias = true;
  llama.head_dim = 8;
  EXPECT_EQ(refusal_of(llama), "");
}

TEST(Gguf, ATiedHeadIsWrittenWhereItMustBeThere) {
  ModelConfig model = olmo_model();
  model.tied = true;
  const Gguf file = exported(model, GgufType::F32);
  EXPECT_EQ(file.entries.at("output.weight").extents, (std::vector<uint64_t>{32, 300}));
  EXPECT_EQ(file.bytes("output.weight", 300 * 32 * 4),
            file.bytes("token_embd.weight", 300 * 32 * 4));
  model = small_model();
  model.tied = true;
  EXPECT_FALSE(exported(model, GgufType::F32).entries.contains("output.weight"));
}

TEST(Gguf, YarnsFactorIsSaidAndItsBetasAreItsOwn) {
  ModelConfig model = small_model();
  model.rope.scaling = RopeScaling::Yarn;
  model.rope.factor = 4.0;
  model.rope.original_context = 16;
  const Gguf plain = exported(model, GgufType::F32);
  EXPECT_EQ(plain.metadata.at("llama.rope.scaling.type"), "yarn");
  EXPECT_EQ(plain.metadata.at("llama.rope.scaling.factor"), 4.0f);
  EXPECT_EQ(plain.metadata.at("llama.rope.scaling.original_context_length"), 16);
  EXPECT_FALSE(plain.metadata.contains("llama.rope.scaling.attn_factor"));
  model.rope.attention_factor = 1.5;
  const auto factor = exported(model, GgufType::F32).metadata.at("llama.rope.scaling.attn_factor");
  EXPECT_NEAR(factor.get<double>() * (0.1 * std::log(4.0) + 1.0), 1.5, 1e-6);
  model.rope.beta_fast = 16.0;
  EXPECT_TRUE(contains(refusal_of(model), "beta_fast"));
  model.rope.scaling = RopeScaling::Dynamic;
  EXPECT_TRUE(contains(refusal_of(model), "dynamic"));
}

TEST(Gguf, LlamaThreesScalingIsATensorOfDivisors) {
  ModelConfig model = small_model();
  model.rope.scaling = RopeScaling::Llama3;
  model.rope.original_context = 64;
  const auto divisors = exported(model, GgufType::F32).floats("rope_freqs.weight", 8);
  EXPECT_EQ(divisors.front(), 1.0f);
  EXPECT_EQ(divisors.back(), 8.0f);
}

// Exports weights of which one element is `value`.
std::string error_with(float value, GgufType type, Storage& storage) {
  const MadeWeights weights(
      [&](const std::string& name, int64_t i) {
        return name == "layers.1.up.weight" && i == 7 ? value : hf_value(name, i);
      },
      small_model());
  return error_of([&] { export_gguf(storage, weights, {}, "model.gguf", type); });
}

TEST(Gguf, WhatIsNotFiniteInTheFileLeavesNothingBehind) {
  const auto storage = memory_storage();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const GgufType type : {GgufType::F32, GgufType::F16, GgufType::BF16, GgufType::Q8_0})
    EXPECT_TRUE(contains(error_with(nan, type, *storage), "layers.1.up.weight"));
  EXPECT_TRUE(contains(error_with(70000.0f, GgufType::F16, *storage), "blk.1.ffn_gate.weight"));
  EXPECT_TRUE(contains(error_with(-1e7f, GgufType::Q8_0, *storage), "blk.1.ffn_gate.weight"));
  EXPECT_EQ(storage->list("."), std::vector<std::string>{});
  EXPECT_EQ(error_with(-1e7f, GgufType::BF16, *storage), "");
}

// Takes so many bytes in a file, and no more.
class FullStorage : public test::ForwardingStorage {
 public:
  FullStorage(std::shared_ptr<Storage> base, size_t room)
      : ForwardingStorage(std::move(base)), room_(room) {}

  std::unique_ptr<WritableFile> create(const std::string& path) override {
    class File : public WritableFile {
     public:
      File(std::unique_ptr<WritableFile> base, size_t room) : base_(std::move(base)), room_(room) {}
      void append(std::span<const std::byte> bytes) override {
        check(bytes.size() <= room_, ErrorCode::Storage, "no space left");
        room_ -= bytes.size();
        base_->append(bytes);
      }
      void sync() override { base_->sync(); }
      void close() override { base_->close(); }

     private:
      std::unique_ptr<WritableFile> base_;
      size_t room_;
    };
    return std::make_unique<File>(base_->create(path), room_);
  }

 private:
  size_t room_;
};

TEST(Gguf, AFullDiskLeavesNothingBehind) {
  const auto base = memory_storage();
  for (const size_t room : {0, 100, 20000, 60000}) {
    FullStorage storage(base, room);
    EXPECT_TRUE(contains(error_with(0.5f, GgufType::F32, storage), "no space left")) << room;
    EXPECT_EQ(base->list("."), std::vector<std::string>{});
  }
}

TEST(Gguf, APowerCutLeavesAWholeFileOrNone) {
  const auto whole = memory_storage();
  EXPECT_EQ(error_with(0.5f, GgufType::F16, *whole), "");
  const std::string expected = read_text(*whole, "model.gguf");
  bool finished = false;
  for (int64_t cut = 0; !finished; ++cut) {
    const auto base = memory_storage();
    const auto faulty = faulty_storage(base, {.operations_before_cut = cut});
    finished = error_with(0.5f, GgufType::F16, *faulty).empty();
    if (!base->exists("model.gguf")) continue;
    EXPECT_EQ(read_text(*base, "model.gguf"), expected) << cut;
  }
}

TEST(Gguf, ANameThatExistsIsLeftAlone) {
  const auto storage = memory_storage();
  overwrite(*storage, "model.gguf", "mine");
  EXPECT_TRUE(contains(error_with(0.5f, GgufType::F32, *storage), "exists"));
  EXPECT_EQ(read_text(*storage, "model.gguf"), "mine");
  EXPECT_EQ(storage->list("."), std::vector<std::string>{"model.gguf"});
}

}  // namespace
}  // namespace ingot::checkpoint_test
