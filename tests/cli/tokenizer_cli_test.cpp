// ingot tokenizer, run as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "support/own_folder.h"
#include "support/source_path.h"
#include "tokenizer/llama2c_file.h"
#include "tokenizer/nasty_text.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
const std::string kShared = testing_support::source_path("../shared/data");

class TokenizerCli : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_);
    std::string text;
    for (int i = 0; i < 2000; ++i) {
      text += "Line " + std::to_string(i * i) + " of the text; 中文和日本語の行 too.\n";
    }
    write("text.txt", text);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const std::string& name, const std::string& contents) {
    std::ofstream(root_ / name, std::ios::binary) << contents;
    return path(name);
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }

  Outcome tokenizer(std::vector<std::string> args) const {
    args.insert(args.begin(), "tokenizer");
    return run_ingot(args, root_);
  }
  // The output of a command that must succeed.
  std::string output(const std::vector<std::string>& args) const {
    const Outcome outcome = tokenizer(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
  nlohmann::json json_of(const std::vector<std::string>& args) const {
    std::string out = output(args);
    out.pop_back();
    return nlohmann::json::parse(out.substr(out.rfind('\n') + 1));
  }
  // Trains on text.txt and gives the file's path.
  std::string train(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"train", "--input", path("text.txt"), "--out", path(name)};
    args.insert(args.end(), more.begin(), more.end());
    output(args);
    return path(name);
  }
  std::string encoded(const std::string& tokenizer_file, const std::string& text_file,
                      std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"encode", "--tokenizer", tokenizer_file, "--input", text_file};
    args.insert(args.end(), more.begin(), more.end());
    return output(args);
  }

  fs::path root_;
};

TEST_F(TokenizerCli, AnyBytesComeBackWhateverTheKindOfFile) {
  const std::string bytes = testing_support::nasty_text(2, 3000);
  const std::string text = write("nasty.txt", bytes);
  const std::vector<std::vector<std::string>> kinds = {
      {"byte"},
      {write("tokenizer.bin", testing_support::small_llama2c_file())},
      {train("tokenizer.json", {"--vocab", "600"})},
      {train("raw.tiktoken", {"--vocab", "600", "--ties", "raw"}), "--split", "llama3"}};
  for (const auto& kind : kinds) {
    for (const std::string format : {"text", "u32"}) {
      std::vector<std::string> more(kind.begin() + 1, kind.end());
      more.insert(more.end(), {"--format", format});
      const std::string ids = write("ids", encoded(kind[0], text, more));
      std::vector<std::string> args = {"decode", "--tokenizer", kind[0], "--input", ids};
      args.insert(args.end(), more.begin(), more.end());
      EXPECT_EQ(output(args), bytes) << kind[0] << ", " << format;
    }
  }
}

TEST_F(TokenizerCli, ASeparatorEndsADocumentAlsoAcrossReads) {
  // The first read ends inside the separator.
  const std::string first((size_t{4} << 20) - 2, 'a');
  const std::string text = write("many.txt", first + "\n--\n\n--\nab\n--\nc");
  EXPECT_EQ(encoded("byte", text, {"--separator", "\\n--\\n"}).substr(first.size() * 3),
            "\n97 98\n99\n");
  EXPECT_EQ(encoded("byte", write("end.txt", "a|"), {"--separator", "|"}), "97\n");
  EXPECT_EQ(encoded("byte", write("empty.txt", ""), {"--separator", "|"}), "");
  EXPECT_EQ(output({"decode", "--tokenizer", "byte", "--input", write("ids", "97\n\n98 99\n"),
                    "--separator", "|"}),
            "a||bc");
}

TEST_F(TokenizerCli, SpecialTokensAreFoundOnlyWhereAsked) {
  const std::string tokenizer = train("tokenizer.json", {"--vocab", "300", "--special", "<|x|>"});
  const std::string text = write("special.txt", "<|x|>");
  EXPECT_EQ(encoded(tokenizer, text, {"--specials"}), "0\n");
  EXPECT_NE(encoded(tokenizer, text), "0\n");
}

TEST_F(TokenizerCli, IdsAndTrainedFilesAreTheSameForAnyNumberOfThreads) {
  std::string lines;
  for (int i = 0; i < 3; ++i) lines += slurp(path("text.txt"));
  write("text.txt", lines);
  const std::string one = train("one.json", {"--vocab", "500", "--threads", "1"});
  const std::string ids = encoded(one, path("text.txt"), {"--threads", "1"});
  const std::string by_line =
      encoded(one, path("text.txt"), {"--threads", "1", "--separator", "\\n"});
  EXPECT_EQ(std::count(by_line.begin(), by_line.end(), '\n'), 6000);
  for (const std::string threads : {"2", "8"}) {
    EXPECT_EQ(slurp(train("more.json", {"--vocab", "500", "--threads", threads, "--force"})),
              slurp(one));
    EXPECT_EQ(encoded(one, path("text.txt"), {"--threads", threads}), ids);
    EXPECT_EQ(encoded(one, path("text.txt"), {"--threads", threads, "--separator", "\\n"}),
              by_line);
  }
}

TEST_F(TokenizerCli, TrainingTakesNoMoreThanTheSample) {
  write("many.jsonl", "{\"text\":\"abc\"}\n{\"text\":\"def\"}\n{\"text\":\"ghi\"}\n");
  const auto trained = [&](const std::string& option, const std::string& limit) {
    return json_of({"train", "--input", path("many.jsonl"), "--out", path("t.json"), "--vocab",
                    "257", option, limit, "--json", "--force"});
  };
  EXPECT_EQ(trained("--sample-documents", "2")["characters"], 6);
  EXPECT_EQ(trained("--sample-characters", "4")["characters"], 4);
  EXPECT_EQ(trained("--sample-characters", "4")["documents"], 2);
}

TEST_F(TokenizerCli, TiesDecideHowBytesAreNumbered) {
  const std::string text = write("a.txt", "a");
  EXPECT_EQ(encoded(train("hf.json", {"--vocab", "300"}), text), "65\n");  // after the special
  EXPECT_EQ(encoded(train("raw.json", {"--vocab", "300", "--ties", "raw"}), text), "97\n");
}

TEST_F(TokenizerCli, SentencePieceModelsOfBothKindsAreTrainedAndUsed) {
  const std::string text = "Line 4 of the text; 中文 é\n";
  for (const std::string type : {"unigram", "sp-bpe"}) {
    const std::string model = train(type + ".model", {"--type", type, "--vocab", "330"});
    const auto info = json_of({"info", "--tokenizer", model, "--json"});
    EXPECT_EQ(info["kind"], "sentencepiece");
    EXPECT_EQ(info["vocab_size"], 330);
    EXPECT_EQ(info["byte fallback"], "yes");
    const std::string ids = write("ids", encoded(model, write("t.txt", text)));
    EXPECT_EQ(output({"decode", "--tokenizer", model, "--input", ids}), text);
  }
}

TEST_F(TokenizerCli, ComparesByScript) {
  const std::string text = write("mixed.txt", "two words\n中文\n");
  const auto rows = json_of({"compare", "--tokenizer", "byte", "--tokenizer",
                             train("tokenizer.json", {"--vocab", "400"}), "--json", text})["rows"];
  ASSERT_EQ(rows.size(), 6u);  // all, Latn and Hani, by two tokenizers
  EXPECT_EQ(rows[0]["bytes"], 17);
  EXPECT_EQ(rows[0]["tokens"], 17);
  EXPECT_EQ(rows[0]["characters"], 13);
  EXPECT_EQ(rows[2]["script"], "Latn");
  EXPECT_EQ(rows[2]["words"], 2);
  EXPECT_EQ(rows[2]["tokens_per_word"], 5);
  EXPECT_EQ(rows[4]["script"], "Hani");
  EXPECT_LT(rows[5]["tokens"], rows[4]["tokens"]);
}

TEST_F(TokenizerCli, ConvertsWhereTheIdsStayTheSame) {
  const std::string text = path("text.txt");
  const std::string json = train("t.json", {"--vocab", "400", "--ties", "raw", "--split", "o200k"});
  const std::string ids = encoded(json, text);
  output({"convert", "--tokenizer", json, "--out", path("t.tiktoken")});
  EXPECT_EQ(encoded(path("t.tiktoken"), text, {"--split", "o200k"}), ids);
  output({"convert", "--tokenizer", path("t.tiktoken"), "--split", "o200k", "--out",
          path("back.json")});
  EXPECT_EQ(encoded(path("back.json"), text), ids);

  const std::string model = train("sp.model", {"--type", "unigram", "--vocab", "330"});
  output({"convert", "--tokenizer", model, "--out", path("copy.model")});
  EXPECT_EQ(slurp(path("copy.model")), slurp(model));
  output({"convert", "--tokenizer", model, "--out", path("sp.json")});
  output({"convert", "--tokenizer", path("sp.json"), "--out", path("back.model")});
  const std::vector<std::string> by_line = {"--separator", "\n"};
  for (const char* name : {"sp.json", "back.model"}) {
    EXPECT_EQ(encoded(path(name), text, by_line), encoded(model, text, by_line)) << name;
  }
  for (const auto& [from, to] :
       {std::pair{json, "x.model"}, {model, "x.tiktoken"}, {json, "x.txt"}}) {
    const Outcome refused = tokenizer({"convert", "--tokenizer", from, "--out", path(to)});
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.err.find(to), std::string::npos) << refused.err;
    EXPECT_FALSE(fs::exists(path(to)));
  }
}

TEST_F(TokenizerCli, ConvertsMarksOnlyWhereTheyAreAskedForAndSaysWhichIdsDiffer) {
  const std::string model = train("sp.model", {"--type", "sp-bpe", "--vocab", "330"});
  output({"convert", "--tokenizer", model, "--out", path("sp.json")});
  auto json = nlohmann::json::parse(slurp(path("sp.json")));
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"split", false}};
  write("newer.json", json.dump());
  const Outcome refused =
      tokenizer({"convert", "--tokenizer", path("newer.json"), "--out", path("new.model")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("--dummy-prefix"), std::string::npos) << refused.err;
  const Outcome done = tokenizer(
      {"convert", "--tokenizer", path("newer.json"), "--out", path("new.model"), "--dummy-prefix"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err, path("new.model") +
                          ": texts that begin with a space or \"▁\" get one \"▁\" more than "
                          "before\n");
  const std::vector<std::string> by_line = {"--separator", "\n"};
  const std::string text = path("text.txt");
  EXPECT_EQ(encoded(path("new.model"), text, by_line), encoded(path("newer.json"), text, by_line));
}

TEST_F(TokenizerCli, LargeTokenizersAreKeptByEveryCommand) {
  const fs::path kept = root_ / ".cache/ingot/tokenizers";
  const std::string small = train("t.json", {"--vocab", "300"});
  const std::string large = write("large.json", slurp(small) + std::string(1 << 20, ' '));
  const auto ran = [&](const std::vector<std::string>& args) {
    const Outcome outcome = run_ingot(args, root_);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  ran({"data", "tokenize", "--tokenizer", small, "--out", path("shards"), path("text.txt")});
  EXPECT_FALSE(fs::exists(kept));
  const std::vector<std::string> inspect = {"data", "inspect", path("shards"), "--tokenizer",
                                            large};
  const std::string first = ran(inspect);
  EXPECT_EQ(std::distance(fs::directory_iterator(kept), {}), 1);
  EXPECT_EQ(ran(inspect), first);
}

TEST_F(TokenizerCli, WritesAConversationAsTheTemplateSays) {
  train("tokenizer.json", {"--vocab", "300", "--special", "<|im_start|>", "--special", "<|end|>"});
  write(
      "tokenizer_config.json",
      R"({"chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content | trim }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|im_start|>{% endif %}", "eos_token": "<|end|>"})");
  std::string config = slurp(path("tokenizer_config.json"));
  config.replace(config.find('\n'), 1, "\\n");  // as JSON wants it
  write("tokenizer_config.json", config);
  const std::string messages = write("m.json", R"([{"role": "user", "content": " Hi "}])");
  const std::string folder = root_.string();
  EXPECT_EQ(output({"chat", "--tokenizer", folder, "--messages", messages}),
            "<|im_start|>user: Hi<|end|>\n");
  EXPECT_EQ(output({"chat", "--tokenizer", path("tokenizer.json"), "--messages", messages,
                    "--generation-prompt"}),
            "<|im_start|>user: Hi<|end|>\n<|im_start|>");
  const std::string ids =
      write("ids", output({"chat", "--tokenizer", folder, "--messages", messages, "--ids"}));
  EXPECT_EQ(slurp(ids).substr(0, 2), "0 ");
  EXPECT_EQ(output({"decode", "--tokenizer", folder, "--input", ids}), "user: Hi\n");

  const std::string other = write("other.jinja", "{{ messages[0].content }}{{ tools|length }}");
  const std::string object = write("o.json", R"({"messages": [{"content": "x"}], "tools": [{}]})");
  EXPECT_EQ(output({"chat", "--tokenizer", folder, "--messages", object, "--template", other}),
            "x1");
  const Outcome broken =
      tokenizer({"chat", "--tokenizer", folder, "--messages", write("b.json", "[")});
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.err.find("b.json: expected JSON"), std::string::npos) << broken.err;
}

TEST_F(TokenizerCli, SaysWhatIsWrong) {
  const auto fails = [&](const std::vector<std::string>& args, int code, const std::string& words) {
    const Outcome outcome = tokenizer(args);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  };
  const std::string text = path("text.txt");
  fails({"encode", "--tokenizer", path("none.json"), "--input", text}, 1, "none.json");
  fails({"encode", "--tokenizer", "byte", "--input", path("none.txt")}, 1, "No such file");
  fails({"decode", "--tokenizer", "byte", "--input", write("ids", "1 x")}, 1, "expected ids");
  fails({"decode", "--tokenizer", "byte", "--input", write("ids", "900")}, 1, "900");
  fails({"decode", "--tokenizer", "byte", "--format", "u32", "--input", write("ids", "abc")}, 1,
        "4 bytes");
  fails({"train", "--input", text, "--out", path("t.model")}, 2, ".json");
  fails({"train", "--input", text, "--out", path("t.json"), "--vocab", "10"}, 2, "10");
  fails({"train", "--input", text, "--out", path("t.model"), "--type", "unigram", "--vocab",
         "100000"},
        2, "give --vocab");
  EXPECT_FALSE(fs::exists(root_ / "t.json"));
}

TEST_F(TokenizerCli, GivesThePublishedIdsOfGpt2FromEachOfItsFiles) {
  const std::string vectors = kShared + "/tokenizer_vectors/ggml-vocab-gpt-2.gguf";
  if (!fs::exists(vectors + ".inp")) GTEST_SKIP() << "no " << vectors;
  std::string expected;  // the lines begin with a space
  for (const char c : slurp(vectors + ".out")) {
    if (c != ' ' || !(expected.empty() || expected.back() == '\n')) expected += c;
  }
  for (const char* name : {"gpt2_hf_tokenizer.json", "gpt2_vocab.json", "r50k_base.tiktoken"}) {
    EXPECT_EQ(encoded(kShared + "/tokenizers/" + name, vectors + ".inp",
                      {"--separator", "\n__ggml_vocab_test__\n"}),
              expected)
        << name;
  }
}

}  // namespace
}  // namespace ingot::test
