#include "checkpoint/exchange/hf/folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoint/exchange/hf/export.h"
#include "checkpoint/hf_fixture.h"
#include "checkpoint/manifest.h"
#include "checkpoint/models/import_model.h"
#include "checkpoint/models/open_model.h"
#include "core/error/error.h"

namespace ingot::checkpoint_test {
namespace {

HfConfigFile config_of(Storage& storage, const std::string& folder) {
  return read_hf_config_file(storage, folder, join_path(folder, kHfConfigName));
}

void import(const std::shared_ptr<Storage>& storage) {
  import_model(*storage, *open_hf_model(storage, "hf"), "", "out");
}

// The import fails with one line that says `what`, and leaves nothing.
void expect_refused(const std::shared_ptr<Storage>& storage, const std::string& what) {
  const std::vector<std::string> before = storage->list(".");
  const std::string said = error_of([&] { import(storage); });
  EXPECT_TRUE(contains(said, what)) << "expected \"" << what << "\" in \"" << said << '"';
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  EXPECT_EQ(storage->list("."), before) << what;
}

TEST(HfFolder, EveryParameterComesFromItsTensors) {
  const auto storage = hf_storage(llama_config());
  import(storage);
  const CheckpointReader reader(storage, "out");
  EXPECT_NO_THROW(reader.verify());
  const auto weights = weights_of(reader);
  const auto stacked = [&](const std::vector<std::pair<std::string, int64_t>>& parts) {
    std::vector<float> values;
    for (const auto& [name, numel] : parts)
      for (int64_t i = 0; i < numel; ++i) values.push_back(hf_value(name, i));
    return values;
  };
  EXPECT_EQ(values_in(*weights, "embedding.weight"),
            stacked({{"model.embed_tokens.weight", 300 * 8}}));
  EXPECT_EQ(values_in(*weights, "layers.1.qkv.weight"),
            stacked({{"model.layers.1.self_attn.q_proj.weight", 64},
                     {"model.layers.1.self_attn.k_proj.weight", 32},
                     {"model.layers.1.self_attn.v_proj.weight", 32}}));
  EXPECT_EQ(values_in(*weights, "layers.0.up.weight"),
            stacked({{"model.layers.0.mlp.gate_proj.weight", 96},
                     {"model.layers.0.mlp.up_proj.weight", 96}}));
  EXPECT_EQ(values_in(*weights, "head.weight"), stacked({{"lm_head.weight", 300 * 8}}));
  EXPECT_EQ(reader.info().origin, (Origin{"Hugging Face", "hf", "LlamaForCausalLM"}));
  EXPECT_FALSE(reader.info().has_optimizer);
}

TEST(HfFolder, WeightsKeepTheirDtypeAndComeBackBitForBit) {
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    const auto storage = hf_storage(llama_config(), dtype);
    import(storage);
    const CheckpointReader reader(storage, "out");
    EXPECT_EQ(reader.dtype("head.weight"), dtype);
    export_hf(*storage, *weights_of(reader), reader.auxiliary_files(), "again", {});
    EXPECT_EQ(read_text(*storage, "again/model.safetensors"),
              read_text(*storage, "hf/model.safetensors"));
    const Json config = Json::parse(read_text(*storage, "again/config.json"));
    EXPECT_EQ(config.at("eos_token_id"), Json({1, 2}));
    EXPECT_EQ(parse_hf_config(config.dump(), "").model, reader.info().model);
  }
}

TEST(HfFolder, SeveralFilesAndTheirIndexAreReadAndWritten) {
  const auto storage = hf_storage(llama_config());
  import(storage);
  const CheckpointReader reader(storage, "out");
  export_hf(*storage, *weights_of(reader), reader.auxiliary_files(), "hf2", {.file_bytes = 4096});
  const Json index = Json::parse(read_text(*storage, "hf2/model.safetensors.index.json"));
  EXPECT_EQ(index.at("weight_map").size(), tensors_of(llama_config()).size());
  EXPECT_EQ(index.at("weight_map").at("model.embed_tokens.weight"),
            "model-00001-of-00003.safetensors");
  const HfFolder again(storage, "hf2", config_of(*storage, "hf2"));
  const auto weights = weights_of(reader);
  const TensorTable parameters = transformer_parameters(again.model());
  for (const TensorSpec& row : parameters.rows())
    EXPECT_EQ(values_in(again, row.name), values_in(*weights, row.name)) << row.name;
}

TEST(HfFolder, ATiedHeadMayBeThereIfItIsTheEmbedding) {
  Json config = llama_config();
  config["tie_word_embeddings"] = true;
  const auto storage = hf_storage(config);
  auto tensors = tensors_of(config);
  EXPECT_NO_THROW(import(storage));
  storage->remove("out");
  tensors.push_back({"lm_head.weight", {300, 8}});
  write_tensors(*storage, "hf/model.safetensors", tensors);
  expect_refused(storage, "tie_word_embeddings");
}

TEST(HfFolder, NamesWithoutTheirBaseAreFound) {
  const auto storage = hf_storage(llama_config());
  auto tensors = tensors_of(llama_config());
  for (SafetensorsTensor& tensor : tensors)
    if (tensor.name.starts_with("model.")) tensor.name = tensor.name.substr(6);
  write_tensors(*storage, "hf/model.safetensors", tensors);
  EXPECT_NO_THROW(import(storage));
}

TEST(HfFolder, TensorsThatAreMissingExtraOrOfAnotherShapeAreNamed) {
  const auto storage = hf_storage(llama_config());
  const auto change = [&](const std::function<void(std::vector<SafetensorsTensor>&)>& edit) {
    auto tensors = tensors_of(llama_config());
    edit(tensors);
    write_tensors(*storage, "hf/model.safetensors", tensors);
  };
  change([](auto& tensors) { tensors.erase(tensors.begin() + 3); });
  expect_refused(storage, "model.layers.0.self_attn.k_proj.weight");
  change([](auto& tensors) { tensors.push_back({"model.layers.2.extra.weight", {3}}); });
  expect_refused(storage, "model.layers.2.extra.weight");
  change([](auto& tensors) { tensors[2].shape = {4, 16}; });
  expect_refused(storage, "model.layers.0.self_attn.q_proj.weight");
  change([](auto& tensors) { tensors[2].dtype = DType::F64; });
  EXPECT_NO_THROW(import(storage));
  storage->remove("out");
  change([](auto& tensors) { tensors.push_back({"model.layers.0.rotary_emb.inv_freq", {2}}); });
  EXPECT_NO_THROW(import(storage));
}

TEST(HfFolder, AWeightThatIsNotFiniteIsNamed) {
  const auto storage = hf_storage(llama_config());
  std::string file = read_text(*storage, "hf/model.safetensors");
  const float bad = std::numeric_limits<float>::quiet_NaN();
  file.replace(file.size() - sizeof(bad), sizeof(bad), reinterpret_cast<const char*>(&bad),
               sizeof(bad));
  overwrite(*storage, "hf/model.safetensors", file);
  expect_refused(storage, "head.weight is NaN or infinite at element 2399");
}

TEST(HfFolder, AnIndexThatLiesIsRefused) {
  const auto storage = hf_storage(llama_config());
  const auto tensors = tensors_of(llama_config());
  storage->rename("hf/model.safetensors", "hf/a.safetensors");
  const auto with_index = [&](const std::function<void(Json&)>& edit) {
    Json index;
    for (const auto& tensor : tensors) index["weight_map"][tensor.name] = "a.safetensors";
    edit(index);
    overwrite(*storage, "hf/model.safetensors.index.json", index.dump());
  };
  with_index([](Json&) {});
  EXPECT_NO_THROW(import(storage));
  storage->remove("out");
  with_index([](Json& index) { index["weight_map"]["ghost"] = "a.safetensors"; });
  expect_refused(storage, "ghost");
  with_index([](Json& index) { index["weight_map"].erase("lm_head.weight"); });
  expect_refused(storage, "lm_head.weight");
  with_index([](Json& index) { index["weight_map"]["lm_head.weight"] = "b.safetensors"; });
  expect_refused(storage, "lm_head.weight");
  with_index([](Json& index) { index["weight_map"]["lm_head.weight"] = "../a.safetensors"; });
  expect_refused(storage, "another folder");
  with_index([](Json& index) { index["weight_map"] = 3; });
  expect_refused(storage, "no index");
  overwrite(*storage, "hf/model.safetensors.index.json",
            R"({"weight_map": {"x": "a.safetensors", "x": "b.safetensors"}})");
  expect_refused(storage, "\"x\" is there twice");
}

TEST(HfFolder, ATruncatedOrHostileFileIsRefused) {
  const auto storage = hf_storage(llama_config());
  const std::string sound = read_text(*storage, "hf/model.safetensors");
  for (const size_t size :
       {sound.size() - 1, sound.size() / 2, size_t{100}, size_t{4}, size_t{0}}) {
    overwrite(*storage, "hf/model.safetensors", sound.substr(0, size));
    expect_refused(storage, "model.safetensors");
  }
  std::string longer = sound;
  longer[6] = '\x7f';  // of the header's length
  overwrite(*storage, "hf/model.safetensors", longer);
  expect_refused(storage, "header");
}

// The file of weights with another header over the same data.
void with_header(Storage& storage, const std::string& sound, const std::string& header) {
  std::string file;
  for (int byte = 0; byte < 8; ++byte)
    file += static_cast<char>((header.size() >> (8 * byte)) & 0xff);
  const auto length =
      static_cast<unsigned char>(sound[0]) + 256u * static_cast<unsigned char>(sound[1]);
  overwrite(storage, "hf/model.safetensors", file + header + sound.substr(8 + length));
}

TEST(HfFolder, AHeaderThatDoesNotFitItsDataIsRefused) {
  const auto storage = hf_storage(llama_config());
  const std::string sound = read_text(*storage, "hf/model.safetensors");
  const auto length =
      static_cast<unsigned char>(sound[0]) + 256u * static_cast<unsigned char>(sound[1]);
  const std::string text = sound.substr(8, length);
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  const auto with_entry = [&](const std::string& key, const Json& value) {
    Json header = Json::parse(text);
    header[name][key] = value;
    with_header(*storage, sound, header.dump());
  };
  with_header(*storage, sound, text);
  EXPECT_NO_THROW(import(storage));
  storage->remove("out");

  const Json offsets = Json::parse(text).at(name).at("data_offsets");
  const auto begin = offsets.at(0).get<int64_t>(), end = offsets.at(1).get<int64_t>();
  with_entry("data_offsets", {begin + 4, end + 4});
  expect_refused(storage, "leave a gap");
  with_entry("data_offsets", {begin - 4, end - 4});
  expect_refused(storage, "overlap");
  with_entry("data_offsets", {-256, 0});
  expect_refused(storage, "outside the file");
  with_entry("data_offsets", {end, begin});
  expect_refused(storage, "outside the file");
  with_entry("data_offsets", {begin, end, end});
  expect_refused(storage, "more than two offsets");
  with_entry("data_offsets", {begin});
  expect_refused(storage, "too short");
  with_entry("shape", {int64_t{1} << 62, 4});
  expect_refused(storage, "does not fit into the file");
  with_entry("shape", {0, int64_t{1} << 62});
  expect_refused(storage, "0 elements");
  with_entry("shape", {8, 8, 1, 1, 1, 1});
  expect_refused(storage, "dims");
  with_entry("dtype", "F4");
  expect_refused(storage, "F4");
  with_header(*storage, sound, text.substr(0, text.rfind('}')) + ",\"" + name + "\": {}}");
  expect_refused(storage, name + "\" is there twice");
  with_header(*storage, sound, std::string(100'000, '['));
  expect_refused(storage, "not JSON");
  with_header(*storage, sound, "[]");
  expect_refused(storage, "no JSON object");
  overwrite(*storage, "hf/model.safetensors", sound + "x");
  expect_refused(storage, "1 bytes follow");
  overwrite(*storage, "hf/model.safetensors",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 134\n");
  expect_refused(storage, "git lfs pull");
}

TEST(HfFolder, QuantizedWeightsAreRefusedAsSuch) {
  const auto storage = hf_storage(llama_config());
  const std::string sound = read_text(*storage, "hf/model.safetensors");
  auto tensors = tensors_of(llama_config());
  // Two tensors of one byte an element, whose data lies where four bytes an element were.
  std::string header = safetensors_header(tensors);
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  Json json = Json::parse(header.substr(8));
  const auto begin = json[name]["data_offsets"][0].get<int64_t>();
  json[name]["dtype"] = "F8_E4M3";
  json[name]["data_offsets"] = {begin, begin + 64};
  json["model.layers.0.self_attn.q_proj.scales"] = {
      {"dtype", "I8"}, {"shape", {192}}, {"data_offsets", {begin + 64, begin + 256}}};
  with_header(*storage, sound, json.dump());
  expect_refused(storage, "quantized weights cannot be imported");
  Json config = llama_config();
  config["quantization_config"] = {{"quant_method", "gptq"}};
  overwrite(*storage, "hf/config.json", config.dump());
  expect_refused(storage, "quantized weights cannot be imported");
}

TEST(HfFolder, AConfigThatIsHugeOrDeepIsRefused) {
  const auto storage = hf_storage(llama_config());
  const auto with_config = [&](const std::string& text) {
    overwrite(*storage, "hf/config.json", text);
  };
  with_config(std::string(100'000, '['));
  expect_refused(storage, "not JSON");
  with_config(R"({"architectures": )" + std::string(100'000, '[') + std::string(100'000, ']') +
              "}");
  expect_refused(storage, "config.json");
  const std::string sound = llama_config().dump();
  with_config(sound.substr(0, sound.size() - 1) + R"(, "hidden_size": 16})");
  expect_refused(storage, "\"hidden_size\" is there twice");
  with_config(sound.substr(0, sound.size() - 1) + ", \"" + std::string(10'000'000, 'x') + "\": 1}");
  EXPECT_NE(error_of([&] { import(storage); }), "");
}

TEST(HfFolder, OneFileCountsBeforeAnIndexAndWithAnIndexTheFilesThatItLists) {
  const auto storage = hf_storage(llama_config());
  Json index;
  for (const auto& tensor : tensors_of(llama_config()))
    index["weight_map"][tensor.name] = "a.safetensors";
  overwrite(*storage, "hf/model.safetensors.index.json", index.dump());
  EXPECT_NO_THROW(import(storage));
  storage->remove("out");
  storage->rename("hf/model.safetensors", "hf/b.safetensors");
  expect_refused(storage, "a.safetensors");
  storage->rename("hf/b.safetensors", "hf/a.safetensors");
  overwrite(*storage, "hf/b.safetensors", "of another model");
  EXPECT_NO_THROW(import(storage));
}

TEST(HfFolder, WhatIsNotThereIsSaid) {
  const auto storage = hf_storage(llama_config());
  overwrite(*storage, "hf/tokenizer", "");
  expect_refused(storage, "tokenizer");
  Json small = llama_config();
  small["vocab_size"] = 256;
  const auto other = hf_storage(small);
  expect_refused(other, "model.vocab is 256, but the byte tokenizer has 257 ids: '");
  const auto pickled = hf_storage(llama_config());
  pickled->rename("hf/model.safetensors", "hf/pytorch_model.bin");
  expect_refused(pickled, "pt_to_safetensors");
  pickled->rename("hf/pytorch_model.bin", "hf/model-00001-of-00002.safetensors");
  expect_refused(pickled, "but no model.safetensors.index.json");
  pickled->rename("hf/model-00001-of-00002.safetensors", "hf/model.gguf");
  expect_refused(pickled, "holds no weights");
}

TEST(HfFolder, AnInterleavedModelIsWrittenAsHalves) {
  ModelConfig model = parse_hf_config(llama_config().dump(), "").model;
  model.rope.style = RopeStyle::Interleaved;
  const MadeWeights weights([](const std::string&, int64_t i) { return static_cast<float>(i); },
                            model);
  const auto storage = memory_storage();
  export_hf(*storage, weights, {}, "hf", {});
  const HfFolder folder(storage, "hf", config_of(*storage, "hf"));
  // Rows of a head of four: 0, 2, 1, 3; values are left alone.
  const std::vector<float> qkv = values_in(folder, "layers.0.qkv.weight");
  const auto row = [&](size_t at) { return qkv[at * 8] / 8; };
  EXPECT_EQ((std::vector{row(0), row(1), row(2), row(3), row(4), row(5)}),
            (std::vector{0.f, 2.f, 1.f, 3.f, 4.f, 6.f}));
  EXPECT_EQ((std::vector{row(12), row(13), row(14), row(15)}),
            (std::vector{12.f, 13.f, 14.f, 15.f}));
  const auto back = with_rope_style(folder, RopeStyle::Interleaved);
  EXPECT_EQ(values_in(*back, "layers.0.qkv.weight"), values_in(weights, "layers.0.qkv.weight"));
  // Any range, also one that begins within a row of a head.
  std::vector<float> some(21);
  back->read("layers.0.qkv.weight", {13, 34}, Tensor::contiguous(some.data(), DType::F32, {21}));
  EXPECT_EQ(some.front(), 13.f);
  EXPECT_EQ(some.back(), 33.f);
}

std::vector<int32_t> stop_ids_in(const std::shared_ptr<Storage>& storage) {
  return CheckpointReader(storage, "out").auxiliary_files().stop_ids;
}

TEST(HfFolder, StopIdsAreThoseOfBothConfigs) {
  const auto storage = hf_storage(llama_config());
  import(storage);
  EXPECT_EQ(stop_ids_in(storage), (std::vector{1, 2}));
  storage->remove("out");
  overwrite(*storage, "hf/generation_config.json", R"({"eos_token_id": 299})");
  import(storage);
  EXPECT_EQ(stop_ids_in(storage), (std::vector{1, 2, 299}));
  storage->remove("out");
  // What the model does not have cannot end a text.
  overwrite(*storage, "hf/generation_config.json", R"({"eos_token_id": [300, -1, 2, 7]})");
  import(storage);
  EXPECT_EQ(stop_ids_in(storage), (std::vector{1, 2, 7}));
  storage->remove("out");
  overwrite(*storage, "hf/generation_config.json", R"({"eos_token_id": null})");
  import(storage);
  EXPECT_EQ(stop_ids_in(storage), (std::vector{1, 2}));
  storage->remove("out");
  for (const char* wrong : {R"("x")", "1.5", R"([1, "x"])", "true", "{}", "99999999999"}) {
    overwrite(*storage, "hf/generation_config.json",
              "{\n\"eos_token_id\": " + std::string(wrong) + "}");
    expect_refused(storage, "hf/generation_config.json, line 2: eos_token_id: expected the id");
  }
}

TEST(HfFolder, StopIdsOfACheckpointWithoutThemAreThoseOfItsFiles) {
  const auto storage = hf_storage(llama_config());
  import(storage);
  const std::string path = "out/manifest.json";
  Manifest manifest = parse_manifest(read_text(*storage, path), path);
  EXPECT_EQ(manifest.stop_ids, (std::vector{1, 2}));
  manifest.stop_ids.reset();
  overwrite(*storage, path, to_text(manifest));
  EXPECT_FALSE(parse_manifest(read_text(*storage, path), path).stop_ids.has_value());
  EXPECT_EQ(stop_ids_in(storage), (std::vector{1, 2}));
}

TEST(HfFolder, StopIdsOfAModelWithoutFilesAreWrittenAsAList) {
  const MadeWeights weights([](const std::string&, int64_t i) { return static_cast<float>(i); },
                            parse_hf_config(llama_config().dump(), "").model);
  const auto storage = memory_storage();
  export_hf(*storage, weights, {.stop_ids = {5, 256}}, "many", {});
  export_hf(*storage, weights, {}, "one", {});
  for (const char* file : {"config.json", "generation_config.json"}) {
    const auto ids = [&](const char* folder) {
      return Json::parse(read_text(*storage, join_path(folder, file))).at("eos_token_id");
    };
    EXPECT_EQ(ids("many"), Json({256, 5})) << file;  // the tokenizer's own first
    EXPECT_EQ(ids("one"), Json(256)) << file;
  }
}

}  // namespace
}  // namespace ingot::checkpoint_test
