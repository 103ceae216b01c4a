// Traps of GGUF files and of chat templates: docs/traps.md.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;

class GgufTrap : public Trap {
 protected:
  Outcome checkpoint(const Args& args) const { return ingot(with({"checkpoint"}, args)); }
  void expect_done(const Args& args) const {
    const Outcome outcome = checkpoint(args);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  void train(const std::string& run, const Args& sets = {}) const {
    const Outcome outcome = ingot(train_args(run, with(sets, {"train.steps=1"})));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void to_gguf(const std::string& model, const std::string& file,
               const std::string& dtype = "f32") const {
    expect_done({"export", path(model), "--to", "gguf", "--dtype", dtype, "--out", path(file)});
  }
  // FILE comes in as the model, and goes out again as the same bytes.
  void expect_same_again(const std::string& file, const std::string& dtype = "f32") const {
    expect_done({"import", path(file), "--out", path("in")});
    to_gguf("in", "again.gguf", dtype);
    EXPECT_EQ(slurp(root_ / "again.gguf"), slurp(root_ / file)) << file << " " << dtype;
    fs::remove_all(root_ / "in");
    fs::remove(root_ / "again.gguf");
  }
  // The file of a run with `from`, which is there, replaced by as many bytes.
  std::string spoilt(const std::string& from, const std::string& to) const {
    std::string file = slurp(root_ / "run.gguf");
    const size_t at = file.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? file : file.replace(at, from.size(), to);
  }
  // As the file has a text.
  static std::string counted(const std::string& text) {
    return static_cast<char>(text.size()) + std::string(7, '\0') + text;
  }
  void expect_refused(const std::string& file, const Args& parts) const {
    write("spoilt.gguf", file);
    const Outcome outcome = checkpoint({"import", path("spoilt.gguf"), "--out", path("spoilt")});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
    EXPECT_FALSE(fs::exists(path("spoilt")));
  }
};

TEST_F(GgufTrap, AFileComesInAndGoesOutAgainByteForByteInEveryType) {
  train("run");
  for (const char* dtype : {"f32", "f16", "bf16", "q8_0"}) {
    const std::string file = std::string("run.") + dtype + ".gguf";
    to_gguf("run", file, dtype);
    expect_same_again(file, dtype);
  }
}

TEST_F(GgufTrap, EveryFamilyThatGoesOutComesIn) {
  const std::vector<std::pair<std::string, Args>> families = {
      {"llama", {"model.rope.theta=500000", "model.norm_eps=1e-6"}},
      {"bias", {"model.qkv_bias=true", "model.out_bias=true", "model.mlp_bias=true"}},
      {"llama3", {"model.rope.scaling=llama3", "model.rope.original_context=64"}},
      {"linear", {"model.rope.scaling=linear", "model.rope.factor=3"}},
      {"yarn",
       {"model.rope.scaling=yarn", "model.rope.factor=4", "model.rope.original_context=64",
        "model.rope.attention_factor=1.3"}},
      {"qwen2", {"model.qkv_bias=true", "model.tied=true"}},
      {"qwen3", {"model.qk_norm=true", "model.head_dim=24"}},
      {"olmo2",
       {"model.norm_place=after", "model.qk_norm=true", "model.qk_norm_span=projection",
        "model.tied=true"}},
      {"gpt2",
       {"model.positions=learned", "model.norm=layer", "model.activation=gelu",
        "model.qkv_bias=true", "model.out_bias=true", "model.mlp_bias=true", "model.tied=true",
        "model.kv_heads=4"}},
      {"gemma2",
       {"model.norm_place=both", "model.activation=geglu",
        "model.embedding_scale=5.656854249492381", "model.attn_softcap=50", "model.softcap=30",
        "model.tied=true", "model.window=8", "model.window_layers=wf",
        "model.attn_scale=0.35355339059327373"}}};
  for (const auto& [name, sets] : families) {
    train(name, sets);
    to_gguf(name, name + ".gguf");
    expect_done({"diff", path(name), path(name + ".gguf")});
    expect_same_again(name + ".gguf");
  }
}

TEST_F(GgufTrap, AFileIsComparedShownAndComputedAsACheckpointIs) {
  train("run");
  to_gguf("run", "run.gguf");
  write("ids.txt", "1 2 3 200");
  expect_done({"diff", path("run.gguf"), path("run")});
  expect_done({"logits", path("run.gguf"), "--ids", path("ids.txt"), "--out", path("a")});
  const Outcome shown = checkpoint({"show", path("run.gguf")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "LlamaForCausalLM")) << shown.out;
  expect_done({"export", path("run.gguf"), "--to", "hf", "--out", path("hf")});
  expect_done({"diff", path("hf"), path("run")});
  train("other", {"train.seed=7"});
  EXPECT_EQ(checkpoint({"diff", path("run.gguf"), path("other")}).code, 1);
}

TEST_F(GgufTrap, TextHasTheSameIdsByTheTokenizerOfTheFile) {
  for (const Args& kind : {Args{"--split", "gpt2"}, Args{"--split", "llama3"},
                           Args{"--split", "qwen2"}, Args{"--type", "sp-bpe"}}) {
    for (const char* left : {"run", "run.gguf", "in", "t.model", "t.json"})
      fs::remove_all(root_ / left);
    const bool is_pieces = kind[0] == "--type";
    const std::string tokenizer = path(is_pieces ? "t.model" : "t.json");
    const Args special = is_pieces ? Args{} : Args{"--special", "<|endoftext|>"};
    const Outcome made = ingot(with(with({"tokenizer", "train", "--input", path("text.txt"),
                                          "--vocab", "320", "--out", tokenizer},
                                         kind),
                                    special));
    ASSERT_EQ(made.code, 0) << made.err;
    train("run", {"data.tokenizer=" + tokenizer, "model.vocab=400"});
    to_gguf("run", "run.gguf");
    expect_same_again("run.gguf");
    expect_done({"import", path("run.gguf"), "--out", path("in")});
    const auto ids = [&](const std::string& file) {
      return ingot({"tokenizer", "encode", "--tokenizer", file, "--input", path("text.txt")}).out;
    };
    const std::string before = ids(tokenizer);
    EXPECT_FALSE(before.empty());
    EXPECT_EQ(ids(path("in/tokenizer.bin")), before) << kind[1];
  }
}

TEST_F(GgufTrap, WhatAFileSaysAndIsNotComputedHereIsRefusedByName) {
  train("run");
  to_gguf("run", "run.gguf");
  expect_refused(spoilt("llama.attention.value_length", "llama.attention.value_lengtX"),
                 {"llama.attention.value_lengtX", "not known"});
  expect_refused(spoilt("blk.0.ffn_up.weight", "blk.0.ffn_xx.weight"), {"blk.0.ffn_up.weight"});
  expect_refused(spoilt(counted("llama"), counted("mamba")), {"the architecture mamba", "qwen3"});
  std::string file = slurp(root_ / "run.gguf");
  const std::string name = "blk.0.ffn_up.weight";
  file[file.find(name) + name.size() + sizeof(uint32_t) + 2 * sizeof(uint64_t)] = 12;
  expect_refused(file, {"Q4_K", "F32, F16, BF16 or Q8_0"});
}

TEST_F(GgufTrap, ADamagedFileIsOneLineAndLeavesNothing) {
  train("run");
  to_gguf("run", "run.gguf");
  const std::string file = slurp(root_ / "run.gguf");
  for (const size_t size : {size_t{4}, size_t{20}, size_t{1000}, file.size() - 100})
    expect_refused(file.substr(0, size), {"spoilt.gguf", "get it again"});
  expect_refused(file + std::string(64, 'x'), {"follow the last tensor"});
  expect_refused(spoilt("blk.1.attn_norm.weight", "blk.0.attn_norm.weight"), {"twice"});
  expect_refused(spoilt("llama.block_count", "llama.vocab_size\x01"), {"spoilt.gguf"});
}

TEST_F(GgufTrap, ATokenizerThatIsNotKnownHereIsRefusedUnlessAnotherIsGiven) {
  train("run");
  to_gguf("run", "run.gguf");
  expect_refused(spoilt(counted("gpt-2"), counted("gpt-9")),
                 {"tokenizer.ggml.pre", "gpt-9", "--tokenizer"});
  expect_done({"import", path("spoilt.gguf"), "--tokenizer", "byte", "--out", path("in")});
  expect_done({"diff", path("in"), path("run")});
}

TEST_F(GgufTrap, AllIdsThatEndATextGoOutAndComeIn) {
  train("run");
  expect_done({"export", path("run"), "--to", "hf", "--out", path("hf")});
  write("hf/generation_config.json", R"({"eos_token_id": [5, 256, 7]})");
  expect_done({"import", path("hf"), "--out", path("model")});
  to_gguf("model", "model.gguf");
  for (const char* key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    EXPECT_TRUE(contains(slurp(root_ / "model.gguf"), key));
  expect_same_again("model.gguf");
  expect_done({"import", path("model.gguf"), "--out", path("back")});
  expect_done({"export", path("back"), "--to", "hf", "--out", path("out")});
  json ids = json::parse(slurp(root_ / "out/generation_config.json")).at("eos_token_id");
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (json{5, 7, 256}));
}

class ChatTemplateTrap : public Trap {
 protected:
  Outcome chat(const std::string& source, const std::string& conversation) const {
    write("chat/tokenizer_config.json", "{}");
    write("template", source);
    write("conversation", conversation);
    return ingot({"tokenizer", "chat", "--tokenizer", path("chat"), "--template", path("template"),
                  "--messages", path("conversation")});
  }
  // By the files of the folder T.
  Outcome said(const std::string& conversation) const {
    write("conversation", conversation);
    return ingot(
        {"tokenizer", "chat", "--tokenizer", path("T"), "--messages", path("conversation")});
  }
  // Of one message of a user.
  std::string text(const std::string& source) const {
    const Outcome outcome = chat(source, R"([{"role": "user", "content": "hi"}])");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
};

TEST_F(ChatTemplateTrap, ToolsAndDocumentsAreNoneWhereNoneAreGiven) {
  EXPECT_EQ(text("{{ tools is none }} {{ documents is none }} {{ other is defined }}"),
            "True True False");
  EXPECT_EQ(text("{% if tools is not none %}{{ tools | length }}{% endif %}"), "");
  const Outcome wrong = chat("x", R"({"messages": [{"role": "user"}], "tools": ["a"]})");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(contains(wrong.err, "tools")) << wrong.err;
}

TEST_F(ChatTemplateTrap, MembersOfMessagesThatAreNullAreNotThere) {
  const Outcome outcome =
      chat("{{ messages }} {{ messages[0].content is defined }}",
           R"([{"role": "assistant", "content": null, "tool_calls": [{"id": null}]}])");
  EXPECT_EQ(outcome.out, "[{'role': 'assistant', 'tool_calls': [{'id': None}]}] False")
      << outcome.err;
}

TEST_F(ChatTemplateTrap, ReasoningIsThereUnderTheNameThatTemplatesRead) {
  const Outcome outcome =
      chat("{% for m in messages %}{{ m.reasoning_content }} {{ m.thinking }};{% endfor %}",
           R"([{"role": "assistant", "reasoning": "so"}, {"role": "assistant", "thinking": "or"},
               {"role": "assistant", "reasoning_content": "if"}])");
  EXPECT_EQ(outcome.out, "so so;or or;if if;") << outcome.err;
}

TEST_F(ChatTemplateTrap, AnIntegerBeyond64BitsIsRefused) {
  for (const char* number : {"9223372036854775808", "12345678901234567890123"}) {
    const Outcome outcome =
        chat("{{ messages[0].n }}", R"([{"role": "user", "n": )" + std::string(number) + "}]");
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, number)) << outcome.err;
  }
}

TEST_F(ChatTemplateTrap, AnEmptyConversationIsRefused) {
  for (const char* none : {"[]", R"({"messages": []})", "{}"}) {
    const Outcome outcome = chat("x", none);
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, "messages")) << outcome.err;
  }
}

TEST_F(ChatTemplateTrap, FormatsHaveFlagsAndWidths) {
  EXPECT_EQ(text("{{ '%05.2f|%-5d|%+d|%#x'|format(3.14159, 42, 7, 255) }}"), "03.14|42   |+7|0xff");
  EXPECT_EQ(text("{{ '%(a)5s|%(b).1e' % {'a': 'é', 'b': 1234} }}"), "    é|1.2e+03");
}

TEST_F(ChatTemplateTrap, ToolsHaveATemplateOfTheirOwn) {
  const std::string plain = R"([{"role": "user", "content": "hi"}])";
  const std::string tools = R"({"messages": )" + plain + R"(, "tools": [{"name": "f"}]})";
  const std::string use = R"({"name": "tool_use", "template": "T"})";
  const auto config = [](const std::string& templates) {
    return R"({"chat_template": [)" + templates + "]}";
  };
  write("T/tokenizer_config.json", config(R"({"name": "default", "template": "D"}, )" + use));
  EXPECT_EQ(said(plain).out, "D");
  EXPECT_EQ(said(tools).out, "T");
  write("T/additional_chat_templates/tool_use.jinja", "F");
  EXPECT_EQ(said(tools).out, "F");
  fs::remove_all(root_ / "T/additional_chat_templates");

  write("T/tokenizer_config.json", config(use));
  EXPECT_EQ(said(tools).out, "T");
  const Outcome refused = said(plain);
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_TRUE(contains(refused.err, "none is the default, there are tool_use")) << refused.err;
}

TEST_F(ChatTemplateTrap, AMemberThatIsThereTwiceIsRefused) {
  write("T/tokenizer_config.json", R"({"chat_template": "{{ messages[0].role }}"})");
  const Outcome refused = said(R"([{"role": "user", "content": "hi", "role": "system"}])");
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_TRUE(contains(refused.err, "\"role\" is there twice")) << refused.err;
}

}  // namespace
}  // namespace ingot::test
