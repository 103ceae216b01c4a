// Models in and out, and checkpoints that are looked at: docs/traps.md.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors.h"
#include "support/source_path.h"
#include "tokenizer/llama2c_file.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;
const fs::path kGolden = testing_support::source_path("tests/golden/hf");

class ModelsTrap : public Trap {
 protected:
  // A small model of transformers, as a folder to spoil.
  void copy_model(const std::string& name = "F", const std::string& family = "llama") const {
    fs::copy(kGolden / family, root_ / name);
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = slurp(root_ / name);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    write(name, text.replace(at, from.size(), to));
  }
  void damage(const std::string& name) const {
    std::string contents = slurp(root_ / name);
    ASSERT_FALSE(contents.empty()) << name;
    contents[contents.size() / 2] ^= 1;
    write(name, contents);
  }

  Outcome import(const std::string& folder, const std::string& out, const Args& more = {}) const {
    return ingot(with({"checkpoint", "import", path(folder), "--out", path(out)}, more));
  }
  Outcome done(const Args& args) const {
    Outcome outcome = ingot(args);
    EXPECT_EQ(outcome.code, 0) << args[0] << " " << args[1] << ": " << outcome.err;
    return outcome;
  }
  // The JSON that ends what a command says.
  Json json_of(const Args& args) const {
    const Outcome outcome = done(with(args, {"--json"}));
    return Json::parse(outcome.out.substr(outcome.out.rfind("\n{", outcome.out.size() - 2) + 1));
  }
  void export_hf(const std::string& model, const std::string& out) const {
    done({"checkpoint", "export", path(model), "--to", "hf", "--out", path(out)});
  }
  std::vector<int32_t> greedy_ids(const std::string& model, const Args& more = {}) const {
    return json_of(with({"generate", path(model), "--temperature", "0", "--tokens", "20"}, more))
        .at("ids");
  }

  // A run of three checkpoints, at steps 2, 4 and 6.
  void train_run() const { done(train_args("run", {"checkpoint.every=2", "checkpoint.keep=9"})); }
};

TEST_F(ModelsTrap, AGivenTokenizerIsTheModelsEverywhere) {
  copy_model();
  copy_model("T");
  replace("T/tokenizer.json", R"("a": 2, "b": 3)", R"("b": 2, "a": 3)");
  const Outcome imported = import("F", "m", {"--tokenizer", path("T")});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(contains(imported.err, "2 files of " + path("F"))) << imported.err;
  export_hf("m", "back");
  write("ab.txt", "ab");
  const auto ids = [&](const std::string& tokenizer) {
    return done({"tokenizer", "encode", "--tokenizer", path(tokenizer), "--input", path("ab.txt")})
        .out;
  };
  EXPECT_EQ(ids("back"), ids("T"));
  EXPECT_NE(ids("back"), ids("F"));
  EXPECT_EQ(slurp(root_ / "back/tokenizer.json"), slurp(root_ / "T/tokenizer.json"));
}

TEST_F(ModelsTrap, GenerationStopsAtEveryStopIdOfTheModel) {
  copy_model();
  ASSERT_EQ(import("F", "m").code, 0);
  const std::vector<int32_t> ids = greedy_ids("m");
  ASSERT_GT(ids.size(), 3U);
  const int32_t stop = ids[2];
  const auto before = static_cast<size_t>(std::find(ids.begin(), ids.end(), stop) - ids.begin());
  const std::string list = "\"eos_token_id\": [1, " + std::to_string(stop) + "]";
  for (const std::string file : {"generation_config.json", "config.json"}) {
    fs::remove_all(root_ / "F");
    copy_model();
    replace("F/" + file, "\"eos_token_id\": 1", list);
    const std::string model = "m_" + file;
    ASSERT_EQ(import("F", model).code, 0);
    EXPECT_EQ(greedy_ids(model).size(), before) << file;
    EXPECT_TRUE(contains(done({"checkpoint", "show", path(model)}).out,
                         "stop ids 1, " + std::to_string(stop)));
  }
}

TEST_F(ModelsTrap, StopIdsLeaveWithTheModel) {
  copy_model();
  fs::remove(root_ / "F/generation_config.json");
  replace("F/config.json", "\"eos_token_id\": 1", "\"eos_token_id\": [1, 7, 5]");
  ASSERT_EQ(import("F", "m").code, 0);
  export_hf("m", "back");
  // transformers asks this file, and config.json only where it is missing.
  EXPECT_EQ(Json::parse(slurp(root_ / "back/generation_config.json")).at("eos_token_id"),
            Json({1, 5, 7}));
  EXPECT_EQ(Json::parse(slurp(root_ / "back/config.json")).at("eos_token_id"), Json({1, 7, 5}));
}

TEST_F(ModelsTrap, AGenerationConfigThatIsNoneIsRefused) {
  for (const std::string text : {"[]", "{", "{\n\"eos_token_id\": \"</s>\"}"}) {
    fs::remove_all(root_ / "F");
    copy_model();
    write("F/generation_config.json", text);
    const Outcome imported = import("F", "m");
    EXPECT_EQ(imported.code, 1) << text;
    EXPECT_TRUE(contains(imported.err, "generation_config.json")) << imported.err;
    EXPECT_FALSE(fs::exists(root_ / "m"));
  }
}

// Gives elements of a tensor in bf16 other values: every `step`th from `first` on.
struct Elements {
  std::string tensor;
  int64_t first = 0, step = 1;
  int64_t count = -1;  // all
};
void set_values(const fs::path& file, const Elements& which, float value) {
  std::string bytes = slurp(file);
  const auto entry = read_safetensors_header(*posix_storage()->open(file), file).at(which.tensor);
  const uint16_t bits = Bf16::from_float(value).bits;
  for (int64_t i = which.first, done = 0; i < entry.numel && done != which.count;
       i += which.step, ++done)
    std::memcpy(bytes.data() + entry.offset + 2 * i, &bits, 2);
  std::ofstream(file, std::ios::binary) << bytes;
}

class NotFiniteTrap : public ModelsTrap {
 protected:
  void SetUp() override {
    ModelsTrap::SetUp();
    copy_model();
    const fs::path weights = root_ / "F/model.safetensors";
    set_values(weights, {"model.layers.1.mlp.up_proj.weight"}, 3e38f);
    set_values(weights, {"model.layers.1.mlp.gate_proj.weight"}, 3e38f);
    ASSERT_EQ(import("F", "m").code, 0);
  }
  static void expect_named(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(contains(outcome.err, "layer 1, MLP up projection: not finite")) << outcome.err;
  }
  // A run that begins from a model.
  Args train_from(const std::string& model, const Args& sets = {}) const {
    write("short.toml", "[train]\ninit = \"" + path(model) +
                            "\"\nsteps = 2\neval_tokens = 64\n[batch]\nseq = 16\nmicro_batch = 2\n"
                            "tokens = 64\n[optim.schedule]\nkind = \"constant\"\n");
    write("letters.txt", std::string(3000, 'a'));
    Args args = {"train", path("short.toml"),
                 "--set", "data.train=" + path("letters.txt"),
                 "--set", "checkpoint.dir=" + path("run")};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return args;
  }
};

TEST_F(NotFiniteTrap, LogitsNameTheLayer) {
  const Outcome outcome = ingot({"checkpoint", "logits", path("m"), "--ids", path("F/ids.txt"),
                                 "--out", path("logits.safetensors")});
  expect_named(outcome);
  EXPECT_FALSE(fs::exists(root_ / "logits.safetensors"));
}

TEST_F(NotFiniteTrap, GenerateNamesTheLayer) {
  expect_named(ingot({"generate", path("m"), "--prompt", "abc"}));
  expect_named(ingot({"generate", path("m")}));
}

TEST_F(NotFiniteTrap, ARowThatANormTurnsToZerosIsNoText) {
  copy_model("G");
  set_values(root_ / "G/model.safetensors", {"model.embed_tokens.weight"}, 3e38f);
  ASSERT_EQ(import("G", "zeros").code, 0);
  const Outcome outcome = ingot({"generate", path("zeros"), "--prompt", "abc"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "embedding: not finite")) << outcome.err;
}

TEST_F(NotFiniteTrap, TheFirstStepNamesTheLayerAndBlamesNoLearningRate) {
  for (const Args& sets : {Args{}, Args{"train.precision=bf16"}, Args{"system.ranks=2"},
                           Args{"system.ranks=2", "system.data_parallel=fully_sharded"}}) {
    const Outcome outcome = ingot(train_from("m", sets));
    expect_named(outcome);
    EXPECT_TRUE(contains(outcome.err, "step 1: ")) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "optim.lr")) << outcome.err;
    fs::remove_all(root_ / "run");
  }
}

TEST_F(NotFiniteTrap, AValidationNamesTheLayer) {
  copy_model("G");
  // A weight of 3e38 that only the token z, which is in the held-out text alone, meets.
  const fs::path weights = root_ / "G/model.safetensors";
  constexpr int64_t kDim = 16, kZ = 27;
  const std::string layer = "model.layers.0.";
  set_values(weights, {"model.embed_tokens.weight", 0, kDim}, 0.0f);
  set_values(weights, {"model.embed_tokens.weight", kZ * kDim, 1, 1}, 100.0f);
  set_values(weights, {layer + "input_layernorm.weight", 0, 1, 1}, 3e38f);
  for (const char* projection : {"q", "k", "v"})
    set_values(weights, {layer + "self_attn." + projection + "_proj.weight", 0, kDim}, 0.0f);
  ASSERT_EQ(import("G", "of_z").code, 0);
  write("z.txt", std::string(500, 'z'));
  for (const char* ranks : {"system.ranks=1", "system.ranks=2"}) {
    const Outcome outcome =
        ingot(train_from("of_z", {"train.steps=1", "data.valid=" + path("z.txt"), ranks}));
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, "validation: layer 0, projection to queries")) << outcome.err;
    fs::remove_all(root_ / "run");
  }
}

TEST_F(ModelsTrap, VerifyAndListingGoThroughAllCheckpoints) {
  train_run();
  damage("run/step_00000002/rank_0.safetensors");
  fs::remove(root_ / "run/step_00000004/manifest.json");
  const Outcome verified = ingot({"checkpoint", "verify", path("run")});
  EXPECT_EQ(verified.code, 1);
  EXPECT_TRUE(contains(verified.out, "step_00000002  damaged: ")) << verified.out;
  EXPECT_TRUE(contains(verified.out, "step_00000004  damaged: ")) << verified.out;
  EXPECT_TRUE(contains(verified.out, "no manifest.json")) << verified.out;
  EXPECT_TRUE(contains(verified.out, "step_00000006: good")) << verified.out;
  EXPECT_TRUE(contains(verified.err, "2 of 3 checkpoints damaged")) << verified.err;

  damage("run/step_00000002/manifest.json");
  const Outcome listed = ingot({"checkpoint", "ls", path("run"), "--json"});
  EXPECT_EQ(listed.code, 1);
  EXPECT_TRUE(contains(listed.out, "step_00000002  damaged: ")) << listed.out;
  EXPECT_TRUE(contains(listed.out, "step_00000004  damaged: ")) << listed.out;
  EXPECT_TRUE(contains(listed.out, "step_00000006  step 6")) << listed.out;
  const Json all = Json::parse(listed.out.substr(listed.out.rfind("\n{") + 1)).at("checkpoints");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].contains("damaged") && all[1].contains("damaged")) << all;
  EXPECT_EQ(all[2].at("step"), 6);
}

TEST_F(ModelsTrap, AResumeSaysWhatItPassesOverAndReplaces) {
  train_run();
  fs::remove(root_ / "run/step_00000006/manifest.json");
  const Outcome resumed = ingot({"train", "--resume", path("run")});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  for (const char* said : {"step_00000006", "no manifest.json", "resumes_from", "step_00000004",
                           "replaced when the run saves that step again"})
    EXPECT_TRUE(contains(resumed.err, said)) << resumed.err;
  done({"checkpoint", "verify", path("run/step_00000006")});
}

TEST_F(ModelsTrap, WhatIsTakenInPlaceOfADamagedNewestStepIsSaid) {
  train_run();
  damage("run/step_00000006/rank_0.safetensors");
  write("ids.txt", "1 2 3");
  const std::vector<Args> ways = {
      {"checkpoint", "export", path("run"), "--to", "hf", "--out", path("out")},
      {"checkpoint", "show", path("run")},
      {"checkpoint", "logits", path("run"), "--ids", path("ids.txt"), "--out", path("logits")},
      {"generate", path("run"), "--prompt", "Line", "--tokens", "3"}};
  for (const Args& args : ways) {
    const Outcome outcome = done(args);
    EXPECT_TRUE(contains(outcome.err, "used=" + path("run/step_00000004"))) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "step_00000006")) << outcome.err;
  }
}

TEST_F(ModelsTrap, ShowLogitsAndExportTakeAHuggingFaceFolder) {
  copy_model();
  ASSERT_EQ(import("F", "m").code, 0);
  const Outcome shown = done({"checkpoint", "show", path("F")});
  EXPECT_TRUE(contains(shown.out, "LlamaForCausalLM, 7,408 parameters, bf16")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "not imported yet")) << shown.out;
  for (const std::string model : {"F", "m"}) {
    done({"checkpoint", "logits", path(model), "--ids", path("F/ids.txt"), "--out",
          path("logits of " + model)});
    done({"checkpoint", "export", path(model), "--to", "llama2c", "--out", path("c of " + model)});
    EXPECT_EQ(greedy_ids(model), greedy_ids("m"));
  }
  EXPECT_EQ(slurp(root_ / "logits of F"), slurp(root_ / "logits of m"));
  EXPECT_EQ(slurp(root_ / "c of F/model.bin"), slurp(root_ / "c of m/model.bin"));
}

TEST_F(ModelsTrap, ErrorsInJsonNameLineAndMember) {
  struct Slip {
    std::string file, from, to;
    std::vector<std::string> said;
  };
  const std::vector<Slip> slips = {
      {"config.json",
       R"("hidden_size": 16)",
       R"("hidden_size": "x")",
       {"F/config.json, line 12: hidden_size: expected a positive integer, got \"x\""}},
      {"config.json",
       R"("rope_theta": 10000.0)",
       R"("rope_theta": "far")",
       {"F/config.json, line 25: rope_parameters: rope_theta: expected a number, got \"far\""}},
      {"config.json",
       R"("mlp_bias": false,)",
       R"("mlp_bias": false)",
       {"F/config.json, line 17: it is not JSON"}},
      {"generation_config.json",
       R"("eos_token_id": 1)",
       R"("eos_token_id": "</s>")",
       {"F/generation_config.json, line 4: eos_token_id: expected the id of a token"}},
      {"tokenizer_config.json",
       R"("eos_token": "</s>")",
       R"("eos_token": 1)",
       {"F/tokenizer_config.json, line 1: eos_token: expected the text of a token"}},
      {"tokenizer_config.json",
       R"("eos_token": "</s>",)",
       R"("eos_token": "</s>")",
       {"F/tokenizer_config.json, line 1: it is not JSON"}}};
  for (const Slip& slip : slips) {
    fs::remove_all(root_ / "F");
    copy_model();
    replace("F/" + slip.file, slip.from, slip.to);
    const Outcome imported = import("F", "m");
    EXPECT_EQ(imported.code, 1) << slip.to;
    for (const std::string& said : slip.said)
      EXPECT_TRUE(contains(imported.err, said)) << imported.err;
  }
  fs::remove_all(root_ / "F");
  copy_model();
  fs::rename(root_ / "F/model.safetensors", root_ / "F/a.safetensors");
  write("F/model.safetensors.index.json", "{\n \"weight_map\": {\n  \"lm_head.weight\": 3\n }\n}");
  const Outcome indexed = import("F", "m");
  EXPECT_EQ(indexed.code, 1);
  EXPECT_TRUE(contains(indexed.err,
                       "F/model.safetensors.index.json, line 3: weight_map: lm_head.weight: "
                       "expected the name of a file, got 3"))
      << indexed.err;
}

TEST_F(ModelsTrap, AnImportWithoutATokenizerSaysHowToGiveOne) {
  copy_model();
  fs::remove(root_ / "F/tokenizer.json");
  const Outcome imported = import("F", "m");
  EXPECT_EQ(imported.code, 1);
  EXPECT_TRUE(contains(imported.err, "--tokenizer byte")) << imported.err;
}

TEST_F(ModelsTrap, ALlama2cFileWithoutItsTokenizerIsSaidToBeThat) {
  train_run();
  const Outcome exported =
      done({"checkpoint", "export", path("run"), "--to", "llama2c", "--out", path("out")});
  EXPECT_FALSE(fs::exists(root_ / "out/tokenizer.bin"));
  EXPECT_TRUE(contains(exported.err, "tokenizer.bin cannot say")) << exported.err;
}

TEST_F(ModelsTrap, AnEmptyPromptBeginsWithBosOrAfterTheEosOfADocument) {
  copy_model();
  replace("F/tokenizer_config.json", R"("bos_token": "<s>")", R"("bos_token": null)");
  ASSERT_EQ(import("F", "m").code, 0);
  EXPECT_FALSE(greedy_ids("m").empty());

  replace("F/tokenizer_config.json", R"("eos_token": "</s>")", R"("eos_token": null)");
  ASSERT_EQ(import("F", "none").code, 0);
  const Outcome refused = ingot({"generate", path("none")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "neither BOS nor EOS")) << refused.err;
}

TEST_F(ModelsTrap, AnAdapterBesideTheWeightsIsNotLeftOut) {
  copy_model();
  write("F/adapter_config.json", R"({"peft_type": "LORA"})");
  fs::copy(root_ / "F/model.safetensors", root_ / "F/adapter_model.safetensors");
  for (const Args& args : {Args{"checkpoint", "import", path("F"), "--out", path("m")},
                           {"generate", path("F"), "--tokens", "2"}}) {
    const Outcome refused = ingot(args);
    EXPECT_EQ(refused.code, 1) << refused.out;
    EXPECT_TRUE(contains(refused.err, "F/adapter_config.json")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "merge")) << refused.err;
  }
}

TEST_F(ModelsTrap, TwoThetasOfRotaryPositionsAreNotChosenFrom) {
  copy_model();
  replace("F/config.json", R"("tie_word_embeddings")",
          "\"rope_theta\": 500000.0,\n  \"tie_word_embeddings\"");
  const Outcome refused = import("F", "m");
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_TRUE(
      contains(refused.err, "line 28: \"rope_theta\" and \"rope_parameters\" say different"))
      << refused.err;
  replace("F/config.json", R"("rope_theta": 500000.0)", R"("rope_theta": 10000.0)");
  EXPECT_EQ(import("F", "m").code, 0);
}

TEST_F(ModelsTrap, ChatTemplatesThatAreNotTakenAreListed) {
  copy_model();
  write("F/additional_chat_templates/rag.jinja", "R");
  write("F/additional_chat_templates/tool_use.jinja", "T");
  const Outcome imported = import("F", "m");
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(contains(imported.err, "2 chat templates")) << imported.err;
  EXPECT_TRUE(contains(imported.err, "tool_use.jinja")) << imported.err;
}

TEST_F(ModelsTrap, ShowSaysWhyATokenizerCannotBeUsed) {
  copy_model();
  replace("F/generation_config.json", R"("eos_token_id": 1)", R"("eos_token_id": "x")");
  const Outcome shown = done({"checkpoint", "show", path("F"), "--json"});
  EXPECT_FALSE(contains(shown.out, "# no tokenizer\n")) << shown.out;
  const std::string why = "F/generation_config.json, line 4: eos_token_id: ";
  EXPECT_TRUE(contains(shown.out, why)) << shown.out;
  EXPECT_TRUE(contains(json_of({"checkpoint", "show", path("F")}).value("no_tokenizer", ""), why));
}

TEST_F(ModelsTrap, DiffCountsWhatIsNaNOrInfinite) {
  copy_model();
  copy_model("G");
  std::string weights = slurp(root_ / "G/model.safetensors");
  weights.replace(weights.size() - 4, 4, "\xc0\x7f\x80\x7f");  // NaN and infinity in bf16
  write("G/model.safetensors", weights);
  for (const auto& [a, b] : {std::pair("F", "G"), std::pair("G", "F")}) {
    const Outcome compared = ingot({"checkpoint", "diff", path(a), path(b)});
    EXPECT_EQ(compared.code, 1);
    EXPECT_TRUE(contains(compared.out, ": 2 of 16 elements differ; 2 of them are NaN or infinite"))
        << compared.out;
  }
}

TEST_F(ModelsTrap, TextOfLogitsThatAreAllZeroIsSaidToBeThat) {
  copy_model();
  std::string weights = slurp(root_ / "F/model.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, weights.data(), sizeof header);
  constexpr size_t kHead = size_t{48} * 16 * 2;  // lm_head.weight, the first tensor
  ASSERT_TRUE(contains(weights.substr(0, 200), R"("lm_head.weight":{"dtype":"BF16")"));
  weights.replace(8 + header, kHead, std::string(kHead, '\0'));
  write("F/model.safetensors", weights);
  const Outcome text = done({"generate", path("F"), "--tokens", "3"});
  EXPECT_TRUE(contains(text.err, "every logit is 0")) << text.err;
}

TEST_F(ModelsTrap, APromptGetsBosAsTheModelsFilesSayAndNeverTwice) {
  copy_model();
  const auto prompt_tokens = [&] {
    return json_of({"generate", path("F"), "--prompt", "abc", "--tokens", "1"}).at("prompt_tokens");
  };
  EXPECT_EQ(prompt_tokens(), 3);  // neither a template nor add_bos_token asks for it
  replace("F/tokenizer_config.json", R"("bos_token")", R"("add_bos_token": true, "bos_token")");
  EXPECT_EQ(prompt_tokens(), 4);
  replace("F/tokenizer.json", R"("post_processor": null)",
          R"("post_processor": {"type": "TemplateProcessing",)"
          R"( "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},)"
          R"( {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],)"
          R"( "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}})");
  EXPECT_EQ(prompt_tokens(), 4);
  replace("F/tokenizer_config.json", R"("add_bos_token": true)", R"("add_bos_token": false)");
  EXPECT_EQ(prompt_tokens(), 3);
  replace("F/tokenizer_config.json", R"("add_bos_token": false, )", "");
  EXPECT_EQ(prompt_tokens(), 4);
}

TEST_F(ModelsTrap, AnExportWithoutATokenizerForTransformersIsSaidToBeThat) {
  write("tok.bin", testing_support::small_llama2c_file());
  done(
      train_args("run", {"data.tokenizer=" + path("tok.bin"), "model.vocab=512", "train.steps=1"}));
  const Outcome exported =
      done({"checkpoint", "export", path("run"), "--to", "hf", "--out", path("out")});
  EXPECT_FALSE(fs::exists(root_ / "out/tokenizer.json"));
  EXPECT_TRUE(contains(exported.err, "no tokenizer.json encodes as llama2.c does")) << exported.err;
}

TEST_F(ModelsTrap, ARenamedStepFolderIsNotTheNewestCheckpoint) {
  train_run();
  fs::rename(root_ / "run/step_00000002", root_ / "run/step_00000009");
  const Outcome shown = done({"checkpoint", "show", path("run")});
  EXPECT_TRUE(contains(shown.out, "# step 6,")) << shown.out;
  EXPECT_TRUE(contains(shown.err, "rename it to step_00000002")) << shown.err;
  const Outcome verified = ingot({"checkpoint", "verify", path("run")});
  EXPECT_EQ(verified.code, 1) << verified.out;
}

TEST_F(ModelsTrap, SeveralSequencesOfIdsAreNotTakenForOne) {
  copy_model();
  const auto logits = [&](const std::string& ids) {
    write("ids.txt", ids);
    return ingot({"checkpoint", "logits", path("F"), "--ids", path("ids.txt"), "--out",
                  path("logits.safetensors"), "--force"});
  };
  for (const char* several : {"1 2 3\n4 5 6\n", "1\n2 3\n", "[[1, 2], [3, 4]]", "[1,\n2][3]"}) {
    const Outcome refused = logits(several);
    EXPECT_EQ(refused.code, 1) << several;
    EXPECT_TRUE(contains(refused.err, "one sequence of ids, got 2")) << refused.err;
  }
  EXPECT_FALSE(fs::exists(root_ / "logits.safetensors"));
  for (const char* one : {"1 2 3 4\n", "\n1\n2\n3\n4", "[1, 2,\n 3, 4]\n", "[[1 2 3 4]]"})
    EXPECT_TRUE(contains(logits(one).out, "of 4 tokens")) << one;
}

TEST_F(ModelsTrap, TrainingFromAGgufFileSaysHowToImportIt) {
  train_run();
  done({"checkpoint", "export", path("run"), "--to", "gguf", "--out", path("run.gguf")});
  const Outcome refused = ingot(train_args("next", {"train.init=" + path("run.gguf")}));
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(contains(refused.err, "ingot checkpoint import ")) << refused.err;
}

}  // namespace
}  // namespace ingot::test
