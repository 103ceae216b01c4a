#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/exchange/gguf/header.h"
#include "checkpoint/exchange/gguf/model.h"
#include "checkpoint/exchange/gguf/weights.h"
#include "checkpoint/gguf_fixture.h"
#include "checkpoint/models/open_model.h"
#include "core/error/error.h"
#include "tokenizer/sentencepiece_file.h"
#include "tokenizer/small_bpe.h"

namespace ingot::checkpoint_test {
namespace {

using testing_support::add_merge;
using testing_support::add_special;

constexpr char kPath[] = "model.gguf";

std::string file_of(const ModelConfig& model, GgufType type = GgufType::F32,
                    const AuxiliaryFiles& auxiliary_files = {}) {
  const MadeWeights weights(hf_value, model);
  const auto storage = memory_storage();
  export_gguf(*storage, weights, auxiliary_files, kPath, type);
  return read_text(*storage, kPath);
}

// The file with more keys, and one that keeps its data in its place.
std::string with_keys(std::string file, const GgufMetadata& more) {
  const std::string key = "general.filler";
  const size_t fixed = 8 + key.size() + 4 + 8;
  GgufMetadata filler;
  filler.add(key, std::string(32 - (more.bytes().size() + fixed) % 32, 'x'));
  uint64_t count = 0;
  std::memcpy(&count, file.data() + 16, sizeof(count));
  count += more.count() + 1;
  std::memcpy(file.data() + 16, &count, sizeof(count));
  return file.insert(24, more.bytes() + filler.bytes());
}
std::string with_key(const std::string& file, const std::string& key, int64_t value) {
  GgufMetadata more;
  more.add_u32(key, value);
  return with_keys(file, more);
}

std::string replaced(std::string file, const std::string& from, const std::string& to) {
  const size_t at = file.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return file.replace(at, from.size(), to);
}

std::unique_ptr<GgufWeights> opened(const std::string& file) {
  const auto storage = memory_storage();
  overwrite(*storage, kPath, file);
  return std::make_unique<GgufWeights>(storage, kPath);
}
std::string refusal_of(const std::string& file) {
  return error_of([&] { opened(file); });
}

ModelConfig llama3_model() {
  ModelConfig model = small_model();
  model.dim = 128;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_dim = 64;
  model.rope.scaling = RopeScaling::Llama3;
  model.rope.theta = 500000.0;
  model.rope.factor = 32.0;
  model.rope.original_context = 8192;
  return model;
}

TEST(GgufHeader, ItIsKnownByItsFirstBytesAndNotByItsName) {
  const auto storage = memory_storage();
  overwrite(*storage, "weights", file_of(small_model()));
  overwrite(*storage, "empty.gguf", "GGU");
  EXPECT_TRUE(is_gguf_file(*storage, "weights"));
  EXPECT_FALSE(is_gguf_file(*storage, "empty.gguf"));
  EXPECT_FALSE(is_gguf_file(*storage, "none.gguf"));
  EXPECT_NE(open_model(storage, "weights"), nullptr);
}

TEST(GgufHeader, EveryCutIsRefused) {
  const std::string file = file_of(small_model());
  for (size_t size = 0; size < file.size(); size += size < 400 ? 1 : 997)
    EXPECT_NE(refusal_of(file.substr(0, size)), "") << size;
  EXPECT_EQ(refusal_of(file), "");
}

TEST(GgufHeader, CountsAndLengthsBeyondTheFileAreRefused) {
  const std::string file = file_of(small_model());
  for (const size_t at : {8u, 16u, 24u, 60u}) {
    for (const uint64_t value : {uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}}) {
      std::string spoilt = file;
      std::memcpy(spoilt.data() + at, &value, sizeof(value));
      EXPECT_TRUE(contains(refusal_of(spoilt), kPath)) << at << " " << value;
    }
  }
}

TEST(GgufHeader, OtherVersionsAndByteOrdersAreNamed) {
  std::string file = file_of(small_model());
  file[4] = 2;
  EXPECT_EQ(refusal_of(file), "");
  file[4] = 1;
  EXPECT_TRUE(contains(refusal_of(file), "version"));
  file[4] = 0;
  file[7] = 3;
  EXPECT_TRUE(contains(refusal_of(file), "big-endian"));
}

TEST(GgufHeader, TensorsThatOverlapOrLeaveTheFileAreRefused) {
  const std::string file = file_of(small_model());
  const std::string name = "blk.1.attn_norm.weight";
  const size_t offset = file.find(name) + name.size() + 4 + 8 + 4;
  for (const uint64_t value : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{31}}) {
    std::string spoilt = file;
    std::memcpy(spoilt.data() + offset, &value, sizeof(value));
    EXPECT_TRUE(contains(refusal_of(spoilt), name)) << value;
  }
  EXPECT_TRUE(contains(refusal_of(file + std::string(32, '\0')), "follow the last tensor"));
}

TEST(GgufHeader, ADecimalIsWhatItsThirtyTwoBitsStandFor) {
  ModelConfig model = small_model();
  model.norm_eps = 1e-6;
  model.rope.theta = 1234567.9;
  const auto weights = opened(file_of(model));
  EXPECT_EQ(weights->model().norm_eps, 1e-6);
  EXPECT_NEAR(weights->model().rope.theta, 1234567.9, 0.1);
}

TEST(GgufWeights, RangesOfBlocksMayBeginAndEndAnywhere) {
  const auto weights = opened(file_of(small_model(), GgufType::Q8_0));
  EXPECT_EQ(weights->dtype("embedding.weight"), DType::F32);
  const std::vector<float> whole = values_in(*weights, "embedding.weight");
  for (const ShardRange range : {ShardRange{0, 1}, {31, 33}, {5, 64}, {33, 1000}, {9599, 9600}}) {
    std::vector<float> part(static_cast<size_t>(range.size()));
    weights->read("embedding.weight", range,
                  Tensor::contiguous(part.data(), DType::F32, {range.size()}));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + range.begin)) << range.begin;
  }
}

TEST(GgufWeights, ARepeatedEmbeddingIsATiedHead) {
  ModelConfig model = small_model();
  model.norm_place = NormPlace::After;
  model.qk_norm = true;
  model.qk_norm_span = QkNormSpan::Projection;
  model.tied = true;
  EXPECT_TRUE(opened(file_of(model))->model().tied);
  model.tied = false;
  EXPECT_FALSE(opened(file_of(model))->model().tied);
}

TEST(GgufWeights, WhatIsLeftOutIsWhatLlamaCppTakes) {
  const std::string file = file_of(small_model());
  EXPECT_TRUE(contains(refusal_of(replaced(file, "llama.context_length", "general.xxxx_length_")),
                       "context_length"));
  EXPECT_EQ(
      opened(replaced(file, "llama.rope.freq_base", "general.x.freq_base_"))->model().rope.theta,
      10000.0);
}

TEST(GgufWeights, UnknownKeysOfTheModelAreRefusedAndOthersAreNot) {
  const std::string file = file_of(small_model());
  for (const char* key : {"llama.attention.scale", "llama.logit_scale", "llama.rope.scale_linear"})
    EXPECT_TRUE(contains(refusal_of(with_key(file, key, 2)), key));
  EXPECT_TRUE(contains(refusal_of(with_key(file, "llama.expert_count", 8)), "expert_count"));
  EXPECT_TRUE(contains(refusal_of(with_key(file, "llama.attention.sliding_window", 8)), "window"));
  EXPECT_TRUE(contains(refusal_of(with_key(file, "split.count", 3)), "3 parts"));
  for (const char* key : {"llama.expert_used_count", "general.size", "quantize.imatrix.chunks"})
    EXPECT_EQ(refusal_of(with_key(file, key, 0)), "") << key;
  EXPECT_TRUE(contains(refusal_of(with_key(with_key(file, "a.b", 1), "a.b", 1)), "twice"));
}

TEST(GgufWeights, Llama3ScalingIsFoundByItsDivisors) {
  const auto found = [](const ModelConfig& model) { return opened(file_of(model))->model().rope; };
  ModelConfig model = llama3_model();
  const auto expect_same = [&] {
    RopeConfig rope = found(model);
    rope.style = model.rope.style;
    EXPECT_EQ(rope, model.rope);
  };
  expect_same();
  model.rope.original_context = 2048;
  expect_same();
  model.rope.high_freq_factor = 2.5;
  model.rope.original_context = 6000;
  expect_same();
}

TEST(GgufWeights, DivisorsOfNoKnownScalingAreRefused) {
  ModelConfig model = llama3_model();
  std::vector<float> divisors = gguf_rope_divisors(model);
  ModelConfig plain = model;
  plain.rope = {};
  plain.rope.theta = model.rope.theta;
  EXPECT_TRUE(set_rope_divisors(plain, divisors));
  divisors[20] += 0.5f;
  EXPECT_FALSE(set_rope_divisors(plain, divisors));
  divisors.pop_back();
  EXPECT_FALSE(set_rope_divisors(plain, divisors));
}

// What the file of such a model says of text, read back.
AuxiliaryFiles back(const ModelConfig& model, const AuxiliaryFiles& auxiliary_files) {
  return opened(file_of(model, GgufType::F32, auxiliary_files))->auxiliary_files("");
}

TEST(GgufTokens, TheByteTokenizerComesBackAsItself) {
  const AuxiliaryFiles found = back(small_model(), {});
  EXPECT_EQ(found.tokenizer, "");
  EXPECT_EQ(found.origin, (Origin{"GGUF", kPath, "LlamaForCausalLM"}));
}

TEST(GgufTokens, AnArrangementThatIsNoPatternOfOursIsCutAsBefore) {
  BpeModel model = testing_support::bytes_only();
  add_merge(model, "1", "2");
  add_special(model, "<|endoftext|>");
  model.bos = model.eos = model.added.back().id;
  Json json = Json::parse(to_tokenizer_json(model));
  json["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
    {"type": "Digits", "individual_digits": true},
    {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]})");
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.tokenizer = json.dump();
  const AuxiliaryFiles found = back(small_model(), auxiliary_files);
  const auto before = tokenizer_of(auxiliary_files), after = tokenizer_of(found);
  EXPECT_EQ(after->kind(), "huggingface");
  for (const char* text : {"12", "a 12 b", "x1212", "don't 3"})
    EXPECT_EQ(after->encode(text), before->encode(text)) << text;
}

TEST(GgufTokens, BosIsNoTokenWhereEosOnlyStandsInItsPlace) {
  BpeModel model = testing_support::bytes_only();
  add_special(model, "<|end|>");
  model.eos = model.added.back().id;
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.tokenizer = to_tokenizer_json(model);
  const auto tokenizer = tokenizer_of(back(small_model(), auxiliary_files));
  EXPECT_EQ(tokenizer->bos(), -1);
  EXPECT_EQ(tokenizer->eos(), 256);
}

TEST(GgufTokens, UnigramPiecesComeBack) {
  testing_support::SmallModel model;
  model.pieces = {{"ab", -1, PieceType::Normal}, {"\u2581", -2, PieceType::Normal}};
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.tokenizer = model.file();
  const AuxiliaryFiles found = back(small_model(), auxiliary_files);
  const auto before = tokenizer_of(auxiliary_files), after = tokenizer_of(found);
  EXPECT_EQ(after->bos(), before->bos());
  EXPECT_EQ(after->eos(), before->eos());
  for (const char* text : {"ab", " ab  ab", "abc"})
    EXPECT_EQ(after->encode(text), before->encode(text)) << text;
}

TEST(GgufTokens, ChatTemplateAndStopIdsComeBack) {
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.hf_files["chat_template.jinja"] = "{{ messages }}\n";
  auxiliary_files.stop_ids = {3, 7, 256};
  const AuxiliaryFiles found = back(small_model(), auxiliary_files);
  EXPECT_EQ(chat_files_of(found).templates.at("default").text, "{{ messages }}\n");
  EXPECT_EQ(found.stop_ids, auxiliary_files.stop_ids);
}

TEST(GgufTokens, UnknownKeysAreRefusedWithWhatHelps) {
  const std::string file = file_of(small_model());
  const auto refusal = [&](const std::string& key, int64_t value) {
    const auto weights = opened(with_key(file, "tokenizer.ggml." + key, value));
    return error_of([&] { weights->auxiliary_files(""); });
  };
  EXPECT_EQ(refusal("padding_token_id", 3), "");
  EXPECT_TRUE(contains(refusal("normalizer.lowercase", 1), "--tokenizer"));
  EXPECT_TRUE(contains(refusal("normalizer.lowercase", 1), "normalizer.lowercase"));
}

}  // namespace
}  // namespace ingot::checkpoint_test
