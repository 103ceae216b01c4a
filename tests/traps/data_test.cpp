// Traps of data preparation: docs/traps.md.
#include <nlohmann/json.hpp>
#include <random>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;

class DataTrap : public Trap {
 protected:
  std::string lines(const std::vector<std::string>& texts,
                    const std::string& field = "text") const {
    std::string file;
    for (size_t i = 0; i < texts.size(); ++i) {
      file += json{{"id", std::to_string(i)}, {field, texts[i]}}.dump() + "\n";
    }
    return file;
  }
  Outcome tokenize(const Args& inputs, const std::string& out, const Args& more = {}) const {
    return ingot(with(
        with({"data", "tokenize", "--tokenizer", "byte", "--out", path(out), "--json"}, inputs),
        more));
  }
  // A folder of exact deduplication that kept two of three documents.
  void dedup(const std::string& out) const {
    write("in/a.jsonl", lines({"one text", "one text", "another text"}));
    const Outcome outcome = ingot(
        {"data", "dedup", path("in"), "--method", "exact", "--out", path(out), "--keep-removed"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_F(DataTrap, AStagesFolderStandsForItsDocumentsNotForWhatItRemoved) {
  dedup("out");
  const Outcome tokens = tokenize({path("out")}, "tokens");
  EXPECT_EQ(tokens.code, 0) << tokens.err;
  EXPECT_EQ(result_of(tokens).value("documents", 0), 2);
  EXPECT_TRUE(result_of(tokens).value("left_out", json()).empty()) << tokens.out;
  const Outcome again =
      ingot({"data", "dedup", path("out"), "--method", "exact", "--out", path("again"), "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(result_of(again).value("documents", 0), 2);
}

TEST_F(DataTrap, AFolderThatMayMeanSeveralThingsIsAskedAbout) {
  dedup("work/first");
  const Outcome above = tokenize({path("work")}, "tokens");
  EXPECT_EQ(above.code, 1);
  EXPECT_TRUE(contains(above.err, path("work/first/documents"))) << above.err;
  fs::remove(root_ / "work/first/stage.json");
  const Outcome bare = tokenize({path("work/first")}, "tokens");
  EXPECT_EQ(bare.code, 1);
  EXPECT_TRUE(contains(bare.err, path("work/first/documents"))) << bare.err;
  EXPECT_TRUE(contains(bare.err, path("work/first/removed"))) << bare.err;
}

TEST_F(DataTrap, AMissingSourceIsSaidToBeMissingAndPathsAreRelativeToTheMixFile) {
  write("in/a.jsonl", lines({"one text", "another text"}));
  ASSERT_EQ(tokenize({path("in")}, "mixes/tokens").code, 0);
  const auto mix = [&](const std::string& source) {
    write("mixes/mix.toml", "train_tokens = 8\n[[source]]\npath = \"" + source + "\"\n");
    return ingot({"data", "mix", path("mixes/mix.toml"), "--out", path("mixed")});
  };
  const Outcome missing = mix("nowhere");
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(contains(missing.err, "no such folder")) << missing.err;
  EXPECT_FALSE(contains(missing.err, "not finished")) << missing.err;
  const Outcome found = mix("tokens");
  EXPECT_EQ(found.code, 0) << found.err;
}

TEST_F(DataTrap, ATrainingMixturesPathsAreRelativeToItsFile) {
  write("mixtures/text.txt", slurp(root_ / "text.txt") + "More of it.\n");
  write("mixtures/mixture.toml", "[[source]]\npath = \"text.txt\"\n");
  const Outcome outcome = ingot(train_args(
      "run", {"data.train=" + path("mixtures/mixture.toml"), "data.valid=" + path("text.txt"),
              "data.valid_in_train=true", "train.steps=1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(DataTrap, ALanguageThatOnlyAModelKnowsIsRefusedWithoutOne) {
  write("in/a.jsonl", lines({"an English page that nobody asked for"}));
  const Outcome outcome =
      ingot({"data", "clean", path("in"), "--out", path("out"), "--set", "language.languages=de"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "language.model")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "Latn")) << outcome.err;
}

TEST_F(DataTrap, ImportRefusesMegatronTokensWhoseIndexIsLostOrDamaged) {
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) texts.push_back("document " + std::to_string(i));
  write("in/a.jsonl", lines(texts));
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  ASSERT_EQ(
      ingot({"data", "export", path("tokens"), "--format", "megatron", "--out", path("m")}).code,
      0);
  const auto import = [&](const Args& more) {
    fs::remove_all(root_ / "back");
    return ingot(with(
        {"data", "import", path("m.bin"), "--out", path("back"), "--tokenizer", "byte", "--json"},
        more));
  };
  EXPECT_EQ(result_of(import({})).value("documents", 0), 10);
  const std::string index = slurp(root_ / "m.idx");
  write("m.idx", std::string(index.size(), '\0'));
  EXPECT_EQ(import({}).code, 1);
  fs::remove(root_ / "m.idx");
  const Outcome lost = import({});
  EXPECT_EQ(lost.code, 1);
  EXPECT_TRUE(contains(lost.err, "m.idx")) << lost.err;
  EXPECT_TRUE(contains(lost.err, "--format nanogpt")) << lost.err;
  EXPECT_EQ(import({"--format", "nanogpt"}).code, 0);
}

TEST_F(DataTrap, AWrongTextFieldEndsWithTheFieldsThatAreThere) {
  write("in/a.jsonl", lines({"one", "two"}, "body"));
  for (const char* stage : {"clean", "dedup", "tokenize"}) {
    Args args = {"data", stage, path("in"), "--out", path(stage)};
    if (std::string(stage) == "tokenize") args.insert(args.end(), {"--tokenizer", "byte"});
    const Outcome outcome = ingot(args);
    EXPECT_EQ(outcome.code, 1) << stage;
    EXPECT_TRUE(contains(outcome.err, "body")) << stage << ": " << outcome.err;
    EXPECT_FALSE(fs::exists(root_ / stage)) << stage;
  }
  const Outcome trained = ingot({"tokenizer", "train", "--input", path("in"), "--vocab", "300",
                                 "--out", path("tokenizer.json")});
  EXPECT_EQ(trained.code, 1);
  EXPECT_TRUE(contains(trained.err, "body")) << trained.err;
}

TEST_F(DataTrap, AWrongTextFieldOfALongFileEndsEarly) {
  write("in/a.txt", "a document");
  write("in/b.jsonl", lines(std::vector<std::string>(1000, "a text"), "body"));
  const Outcome outcome = tokenize({path("in")}, "tokens");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "body")) << outcome.err;
}

TEST_F(DataTrap, VerifyNoticesAMissingTokenizer) {
  write("in/a.jsonl", lines({"one text"}));
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  EXPECT_EQ(ingot({"data", "verify", path("tokens")}).code, 0);
  fs::remove(root_ / "tokens/tokenizer");
  const Outcome outcome = ingot({"data", "verify", path("tokens"), "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(result_of(outcome).value("good", true), false);
  EXPECT_TRUE(contains(outcome.err, path("tokens/tokenizer"))) << outcome.err;
}

// Texts of 300 characters, and each once more with two of them changed.
TEST_F(DataTrap, NearCopiesAreFoundInScriptsWithoutSpaces) {
  std::mt19937 random(1);
  const auto character = [&] {
    const auto code = static_cast<uint32_t>(0x4E00 + random() % 3000);
    return std::string{static_cast<char>(0xE0 | (code >> 12)),
                       static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
                       static_cast<char>(0x80 | (code & 0x3F))};
  };
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> characters;
    for (int k = 0; k < 300; ++k) characters.push_back(k % 20 == 19 ? "，" : character());
    for (int copy = 0; copy < 2; ++copy) {
      std::string text;
      for (const std::string& c : characters) text += c;
      texts.push_back(text);
      characters[75] = characters[225] = character();
    }
  }
  write("in/a.jsonl", lines(texts));
  const Outcome outcome = ingot({"data", "dedup", path("in"), "--out", path("out"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LE(result_of(outcome).value("kept", 1000), 110);
}

TEST_F(DataTrap, LinesOfWindowsFilesEndAsOthersDo) {
  write("in/a.txt", "one\r\ntwo\r\n");
  write("in/b.jsonl", lines({"three\r\nfour"}));
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  EXPECT_EQ(ingot({"data", "cat", path("tokens")}).out, "one\ntwo\n\nthree\nfour\n");
  EXPECT_TRUE(contains(slurp(root_ / "tokens/stage.json"), "keeps_crlf"));
  ASSERT_EQ(tokenize({path("in")}, "kept", {"--keep-crlf"}).code, 0);
  EXPECT_EQ(ingot({"data", "cat", path("kept")}).out, "one\r\ntwo\r\n\nthree\r\nfour\n");
}

TEST_F(DataTrap, CommandsThatAnswerDoSoInJson) {
  write("in/a.jsonl", lines({"one text"}));
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  const json cat = result_of(ingot({"data", "cat", path("tokens"), "--json"}));
  EXPECT_EQ(cat.value("text", ""), "one text");
  EXPECT_EQ(cat.value("source", ""), "input");
  const json exported = result_of(ingot(
      {"data", "export", path("tokens"), "--format", "nanogpt", "--out", path("n.bin"), "--json"}));
  EXPECT_EQ(exported.value("files", json()), json::array({path("n.bin")}));
}

}  // namespace
}  // namespace ingot::test
