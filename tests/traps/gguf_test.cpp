// Traps of GGUF files and of chat templates: docs/traps.md.
#include <cstring>
#include <nlohmann/json.hpp>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;
const fs::path kModels = INGOT_SOURCE_DIR "/tests/golden/hf";

class GgufTrap : public Trap {
 protected:
  Outcome checkpoint(const Args& args) const { return ingot(with({"checkpoint"}, args)); }
  void expect_done(const Args& args) const {
    const Outcome outcome = checkpoint(args);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  // A golden model of Hugging Face's as NAME and as NAME.gguf.
  void make(const std::string& name, const std::string& dtype = "f32") const {
    expect_done({"import", kModels / name, "--out", path(name)});
    expect_done({"export", path(name), "--to", "gguf", "--dtype", dtype, "--out",
                 path(name + ".gguf")});
  }
  std::string logits(const std::string& model, const fs::path& ids) const {
    fs::remove(root_ / "logits.safetensors");
    expect_done({"logits", model, "--ids", ids, "--out", path("logits.safetensors")});
    return slurp(root_ / "logits.safetensors");
  }
  // The model file with the bytes `from`, which are there once, replaced.
  void spoil(const std::string& from, const std::string& to) const {
    std::string file = slurp(root_ / "llama.gguf");
    const size_t at = file.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("spoilt.gguf", file.replace(at, from.size(), to));
  }
  void expect_refused(const Args& parts) const {
    const Outcome outcome = checkpoint({"import", path("spoilt.gguf"), "--out", path("spoilt")});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
    EXPECT_FALSE(fs::exists(path("spoilt")));
  }
};

TEST_F(GgufTrap, AFileComesInAsTheModelThatWentOutInEveryType) {
  for (const char* dtype : {"f32", "f16", "bf16", "q8_0"}) {
    make("smollm2", dtype);
    expect_done({"import", path("smollm2.gguf"), "--out", path("back")});
    expect_done({"export", path("back"), "--to", "gguf", "--dtype", dtype, "--out",
                 path("again.gguf")});
    EXPECT_EQ(slurp(root_ / "again.gguf"), slurp(root_ / "smollm2.gguf")) << dtype;
    for (const char* name : {"smollm2", "smollm2.gguf", "back", "again.gguf"})
      fs::remove_all(root_ / name);
  }
}

TEST_F(GgufTrap, EveryFamilyThatGoesOutComesInWithTheSameLogits) {
  for (const char* name : {"llama", "llama_linear", "llama_llama3", "llama_tied_bias",
                           "llama_yarn_factor", "qwen3", "olmo2", "gpt2", "gemma2"}) {
    make(name);
    const fs::path ids = kModels / name / "ids.txt";
    expect_done({"import", path(std::string(name) + ".gguf"), "--out", path("back")});
    EXPECT_EQ(logits(path("back"), ids), logits(path(name), ids)) << name;
    expect_done(
        {"export", path("back"), "--to", "gguf", "--dtype", "f32", "--out", path("again.gguf")});
    EXPECT_EQ(slurp(root_ / "again.gguf"), slurp(root_ / (std::string(name) + ".gguf"))) << name;
    fs::remove_all(root_ / "back");
    fs::remove(root_ / "again.gguf");
  }
}

TEST_F(GgufTrap, AFileIsComparedShownAndComputedAsACheckpointIs) {
  make("llama");
  expect_done({"diff", path("llama"), path("llama.gguf")});
  expect_done({"diff", path("llama.gguf"), path("llama")});
  const fs::path ids = kModels / "llama/ids.txt";
  EXPECT_EQ(logits(path("llama.gguf"), ids), logits(path("llama"), ids));
  const Outcome shown = checkpoint({"show", path("llama.gguf")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "LlamaForCausalLM")) << shown.out;
  expect_done({"export", path("llama.gguf"), "--to", "hf", "--out", path("hf")});
  expect_done({"diff", path("hf"), path("llama")});
}

TEST_F(GgufTrap, WhatAFileSaysAndIsNotComputedHereIsRefusedByName) {
  make("llama");
  spoil("llama.attention.head_count_kv", "llama.attention.head_count_xx");
  expect_refused({"llama.attention.head_count_xx"});
  spoil("general.architecture\x08", "general.architecturX\x08");
  expect_refused({"general.architecture"});
  spoil("blk.0.ffn_up.weight", "blk.0.ffn_xx.weight");
  expect_refused({"blk.0.ffn_up.weight"});
  const std::string type = std::string("\x02\0\0\0", 4), dims(16, '\0');
  std::string file = slurp(root_ / "llama.gguf");
  const std::string name = "blk.0.ffn_up.weight";
  file[file.find(name) + name.size() + 4 + 16] = 12;
  write("spoilt.gguf", file);
  expect_refused({"Q4_K", "F32, F16, BF16 or Q8_0"});
}

TEST_F(GgufTrap, ADamagedFileIsOneLineAndLeavesNothing) {
  make("llama");
  const std::string file = slurp(root_ / "llama.gguf");
  for (const size_t size : {size_t{3}, size_t{20}, size_t{1000}, file.size() - 100}) {
    write("spoilt.gguf", file.substr(0, size));
    expect_refused({"spoilt.gguf"});
  }
  write("spoilt.gguf", file + std::string(64, 'x'));
  expect_refused({"follow the last tensor"});
  spoil("blk.1.attn_norm.weight", "blk.0.attn_norm.weight");
  expect_refused({"twice"});
  spoil("llama.block_count", "llama.vocab_size\x01");
  expect_refused({"spoilt.gguf"});
}

TEST_F(GgufTrap, ATokenizerThatIsNotKnownHereIsRefusedUnlessAnotherIsGiven) {
  make("smollm2");
  std::string file = slurp(root_ / "smollm2.gguf");
  const size_t at = file.find("tokenizer.ggml.pre");
  ASSERT_NE(at, std::string::npos);
  file[at + std::strlen("tokenizer.ggml.pre") + 12] = 'X';
  write("other.gguf", file);
  const Outcome refused = checkpoint({"import", path("other.gguf"), "--out", path("other")});
  EXPECT_EQ(refused.code, 1);
  for (const char* part : {"tokenizer.ggml.pre", "--tokenizer"})
    EXPECT_TRUE(contains(refused.err, part)) << refused.err;
  expect_done({"import", path("other.gguf"), "--tokenizer", kModels / "smollm2", "--out",
               path("other")});
}

TEST_F(GgufTrap, AllIdsThatEndATextGoOutAndComeIn) {
  fs::copy(kModels / "llama", root_ / "hf");
  write("hf/generation_config.json", R"({"eos_token_id": [1, 5, 7]})");
  expect_done({"import", path("hf"), "--out", path("model")});
  expect_done({"export", path("model"), "--to", "gguf", "--out", path("model.gguf")});
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    EXPECT_TRUE(contains(slurp(root_ / "model.gguf"), key));
  expect_done({"import", path("model.gguf"), "--out", path("back")});
  expect_done({"export", path("back"), "--to", "hf", "--out", path("out")});
  const json config = json::parse(slurp(root_ / "out/generation_config.json"));
  json ids = config.at("eos_token_id");
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (json{1, 5, 7}));
}

}  // namespace
}  // namespace ingot::test
