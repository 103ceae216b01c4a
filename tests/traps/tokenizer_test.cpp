// Traps of tokenizers: docs/traps.md.
#include <nlohmann/json.hpp>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;

class TokenizerTrap : public Trap {
 protected:
  // A .tiktoken file of single bytes: 256 ranks.
  static std::string byte_ranks() {
    static constexpr char kDigits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string file;
    for (unsigned byte = 0; byte < 256; ++byte) {
      file += {kDigits[byte >> 2], kDigits[(byte & 3) << 4], '=', '='};
      file += " " + std::to_string(byte) + "\n";
    }
    return file;
  }
  json info(const std::string& tokenizer, const Args& more = {}) const {
    return result_of(ingot(with({"tokenizer", "info", "--tokenizer", tokenizer, "--json"}, more)));
  }
  Outcome tokenize(const std::string& tokenizer, const Args& more = {}) const {
    fs::remove_all(root_ / "tokens");
    return ingot(with(
        {"data", "tokenize", path("text.txt"), "--tokenizer", tokenizer, "--out", path("tokens")},
        more));
  }
  void train(const std::string& out, const Args& more) const {
    fs::create_directories((root_ / out).parent_path());
    const Outcome outcome =
        ingot(with({"tokenizer", "train", "--input", path("text.txt"), "--out", path(out)}, more));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_F(TokenizerTrap, ARankFilesSpecialTokensComeWithTheNameOfItsPattern) {
  write("mine.tiktoken", byte_ranks());
  const json facts = info(path("mine.tiktoken"), {"--split", "llama3"});
  EXPECT_EQ(facts.value("bos", -1), 256);
  EXPECT_EQ(facts.value("eos", -1), 257);
  ASSERT_EQ(tokenize(path("mine.tiktoken"), {"--split", "llama3"}).code, 0);
  const json shards = result_of(ingot({"data", "inspect", path("tokens"), "--json"}));
  EXPECT_EQ(shards.value("bos", -1), 256);
  EXPECT_EQ(shards.value("eos", -1), 257);
}

TEST_F(TokenizerTrap, ATomlFileBesideARankFileSaysWhatItLeavesOut) {
  write("mine.tiktoken", byte_ranks());
  write("mine.toml", "split = \"cl100k\"\n[special_tokens]\n\"<|end|>\" = 300\n");
  EXPECT_EQ(info(path("mine.tiktoken")).value("vocab_size", 0), 301);
  write("mine.toml",
        "split = \"cl100k\"\neos = \"<|end|>\"\n[special_tokens]\n\"<|end|>\" = 300\n");
  EXPECT_EQ(info(path("mine.tiktoken")).value("eos", -1), 300);
  const Outcome trained = ingot(train_args(
      "run", {"data.tokenizer=" + path("mine.tiktoken"), "model.vocab=512", "train.steps=1"}));
  EXPECT_EQ(trained.code, 0) << trained.err;
}

TEST_F(TokenizerTrap, AnotherSplitThanTheFilesOwnIsRefused) {
  train("mine.json", {"--vocab", "300", "--split", "cl100k"});
  train("ranks.tiktoken", {"--vocab", "300", "--split", "cl100k"});
  for (const char* name : {"mine.json", "ranks.tiktoken"}) {
    const Outcome refused = tokenize(path(name), {"--split", "gpt2"});
    EXPECT_EQ(refused.code, 2) << refused.out << refused.err;
    EXPECT_TRUE(contains(refused.err, "--split gpt2")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "cl100k")) << refused.err;
    EXPECT_FALSE(fs::exists(root_ / "tokens"));
    EXPECT_EQ(tokenize(path(name), {"--split", "cl100k"}).code, 0);
  }
}

TEST_F(TokenizerTrap, WhatTrainingAndConvertingWriteAsRanksIsReadBackWhole) {
  train("ranks.tiktoken", {"--vocab", "300", "--split", "gpt2", "--special", "<|end|>", "--special",
                           "<|endoftext|>"});
  const json facts = info(path("ranks.tiktoken"));
  EXPECT_EQ(facts.value("split", ""), "gpt2");
  EXPECT_GE(facts.value("eos", -1), 0);
  ASSERT_EQ(ingot({"tokenizer", "convert", "--tokenizer", path("ranks.tiktoken"), "--out",
                   path("again.tiktoken")})
                .code,
            0);
  EXPECT_EQ(info(path("again.tiktoken")), facts);
}

TEST_F(TokenizerTrap, TokenizingWithoutEosMustBeAskedFor) {
  write("mine.tiktoken", byte_ranks());
  const Outcome refused = tokenize(path("mine.tiktoken"), {"--split", "none"});
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(contains(refused.err, "--eos no")) << refused.err;
  EXPECT_EQ(tokenize(path("mine.tiktoken"), {"--split", "none", "--eos", "no"}).code, 0);
  EXPECT_EQ(tokenize(path("mine.tiktoken"), {"--split", "none", "--no-eos"}).code, 0);
}

TEST_F(TokenizerTrap, TheErrorThatAsksForAPatternNamesTheOptionAndItsChoices) {
  write("mine.tiktoken", byte_ranks());
  const Outcome outcome = ingot({"tokenizer", "info", "--tokenizer", path("mine.tiktoken")});
  EXPECT_EQ(outcome.code, 1);
  for (const char* part : {"--split", "cl100k", "llama3", "mine.toml"}) {
    EXPECT_TRUE(contains(outcome.err, part)) << part << ": " << outcome.err;
  }
}

TEST_F(TokenizerTrap, AFolderWithATokenizerOfAnyKindWorksWhereAFileDoes) {
  train("json/tokenizer.json", {"--vocab", "300"});
  train("ranks/mine.tiktoken", {"--vocab", "300"});
  train("pieces/spm.model", {"--type", "unigram", "--vocab", "320"});
  for (const char* folder : {"json", "ranks", "pieces"}) {
    const std::string tokenizer = path(folder);
    EXPECT_GT(info(tokenizer).value("vocab_size", 0), 256) << folder;
    const Outcome ids =
        ingot({"tokenizer", "encode", "--tokenizer", tokenizer, "--input", path("text.txt")});
    EXPECT_EQ(ids.code, 0) << ids.err;
    write("ids.txt", ids.out);
    EXPECT_EQ(
        ingot({"tokenizer", "decode", "--tokenizer", tokenizer, "--input", path("ids.txt")}).out,
        slurp(root_ / "text.txt"))
        << folder;
    const Outcome compared =
        ingot({"tokenizer", "compare", "--tokenizer", tokenizer, path("text.txt")});
    EXPECT_EQ(compared.code, 0) << compared.err;
    const Outcome tokens = tokenize(tokenizer);
    EXPECT_EQ(tokens.code, 0) << tokens.err;
    const Outcome good = ingot({"data", "verify", path("tokens"), "--tokenizer", tokenizer});
    EXPECT_EQ(good.code, 0) << good.err;
  }
  fs::copy_file(root_ / "ranks/mine.tiktoken", root_ / "ranks/other.tiktoken");
  const Outcome several = ingot({"tokenizer", "info", "--tokenizer", path("ranks")});
  EXPECT_EQ(several.code, 1);
  EXPECT_TRUE(contains(several.err, "mine.tiktoken, other.tiktoken")) << several.err;
}

TEST_F(TokenizerTrap, UnigramTrainingSaysHowFarItIs) {
  const Outcome outcome = ingot({"tokenizer", "train", "--input", path("text.txt"), "--type",
                                 "unigram", "--vocab", "320", "--out", path("mine.model")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "trainer_spec")) << outcome.err;
  for (const char* part : {"sentences", "seed pieces", "pieces left"}) {
    EXPECT_TRUE(contains(outcome.err, part)) << part << ": " << outcome.err;
  }
}

TEST_F(TokenizerTrap, ASampleIsDrawnFromTheWholeInput) {
  std::string file;
  for (int i = 0; i < 2000; ++i) {
    file += json{{"text", i < 1000 ? "aaaa bbbb" : "cccc dddd"}}.dump() + "\n";
  }
  write("in/a.jsonl", file);
  const Args args = {"tokenizer", "train", "--input", path("in"), "--out", path("tokenizer.json"),
                     "--vocab",   "270"};
  ASSERT_EQ(ingot(with(args, {"--sample-documents", "100"})).code, 0);
  const std::string sampled = slurp(root_ / "tokenizer.json");
  EXPECT_TRUE(contains(sampled, "bbbb"));
  EXPECT_TRUE(contains(sampled, "cccc"));
  ASSERT_EQ(ingot(with(args, {"--sample-characters", "900", "--threads", "3", "--force"})).code, 0);
  EXPECT_TRUE(contains(slurp(root_ / "tokenizer.json"), "cccc"));
}

TEST_F(TokenizerTrap, CommandsThatAnswerDoSoInJson) {
  train("tokenizer.json", {"--vocab", "300"});
  const Args tokenizer = {"--tokenizer", path("tokenizer.json")};
  write("word.txt", "text");
  const json encoded = result_of(
      ingot(with({"tokenizer", "encode", "--input", path("word.txt"), "--json"}, tokenizer)));
  EXPECT_TRUE(encoded.value("ids", json()).is_array());
  write("ids.txt", "70\n");
  EXPECT_TRUE(result_of(ingot(with({"tokenizer", "decode", "--input", path("ids.txt"), "--json"},
                                   tokenizer)))
                  .contains("text"));
  EXPECT_EQ(
      result_of(ingot(with({"tokenizer", "convert", "--out", path("b.json"), "--json"}, tokenizer)))
          .value("vocab_size", 0),
      300);
}

TEST_F(TokenizerTrap, AFileWithTheNameOfAnEncodingIsNotTakenForIt) {
  write("cl100k_base.tiktoken", byte_ranks());
  const Outcome refused = ingot({"tokenizer", "info", "--tokenizer", path("cl100k_base.tiktoken")});
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_TRUE(contains(refused.err, "it has 256 ranks and cl100k_base, whose name it has, 100256"))
      << refused.err;
  EXPECT_EQ(info(path("cl100k_base.tiktoken"), {"--split", "gpt2"}).value("vocab_size", 0), 257);
}

TEST_F(TokenizerTrap, APatternThatTheFileSaysItselfIsNotGivenAnew) {
  train("mine.json", {"--vocab", "300", "--split", "qwen2"});
  train("mine.tiktoken", {"--vocab", "300", "--split", "qwen2"});
  train("mine.model", {"--vocab", "300", "--type", "sp-bpe"});
  const auto encode = [&](const std::string& tokenizer, const std::string& split) {
    return ingot({"tokenizer", "encode", "--tokenizer", tokenizer, "--split", split, "--input",
                  path("text.txt")});
  };
  for (const std::string& tokenizer :
       {path("mine.json"), path("mine.tiktoken"), path("mine.model"), std::string("byte")}) {
    const Outcome refused = encode(tokenizer, "gpt2");
    EXPECT_EQ(refused.code, 2) << tokenizer;
    EXPECT_TRUE(contains(refused.err, "leave --split out")) << tokenizer << ": " << refused.err;
  }
  EXPECT_EQ(encode(path("mine.json"), "qwen2").code, 0);
}

TEST_F(TokenizerTrap, OptionsOfAnotherTypeOfTokenizerAreRefused) {
  for (const Args& options : {Args{"--type", "unigram", "--split", "llama3"},
                              {"--type", "sp-bpe", "--ties", "raw"},
                              {"--type", "bpe", "--coverage", "0.99"},
                              {"--sample-seed", "3"}}) {
    const std::string out = options[1] == "bpe" || options[1] == "3" ? "a.json" : "a.model";
    const Outcome refused = ingot(with(
        {"tokenizer", "train", "--input", path("text.txt"), "--vocab", "320", "--out", path(out)},
        options));
    EXPECT_EQ(refused.code, 2) << options[1];
    EXPECT_TRUE(contains(refused.err, options[options.size() - 2])) << refused.err;
    EXPECT_FALSE(fs::exists(root_ / out));
  }
}

TEST_F(TokenizerTrap, MorePiecesThanATextGivesAreRefusedWithHowManyItGives) {
  const Outcome refused = ingot({"tokenizer", "train", "--input", path("text.txt"), "--type",
                                 "unigram", "--vocab", "1000000", "--out", path("mine.model")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--vocab 1000000: ")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "give at most ")) << refused.err;
  EXPECT_FALSE(contains(refused.err, "trainer_interface")) << refused.err;
}

}  // namespace
}  // namespace ingot::test
