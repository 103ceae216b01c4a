// `ingot chat` on a terminal.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_fixture.h"
#include "traps/pty.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

class Chat : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    const Outcome trained = ingot(train_args("run"));
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  Args chat(const std::string& tokens, const Args& more = {}) const {
    return with({"chat", path("run"), "--tokens", tokens, "--ignore-eos"}, more);
  }
};

TEST_F(Chat, TalksAndKeepsWhatWasSaid) {
  Terminal terminal(chat("8", {"--system", "Be brief."}), 80);
  EXPECT_NE(terminal.read_until("> ").find("base model"), std::string::npos);
  terminal.type("hello\r");
  terminal.read_until("\n> ");
  terminal.type("/edit again\r");
  terminal.read_until("\n> ");
  terminal.type("/retry\r");
  terminal.read_until("\n> ");
  terminal.type("two \\\rlines\r");
  terminal.read_until("\n> ");
  terminal.type("/save " + path("talk.json") + "\r");
  EXPECT_NE(terminal.read_until("\n> ").find("saved"), std::string::npos);
  terminal.type("/nonsense\r");
  EXPECT_NE(terminal.read_until("\n> ").find("no such command"), std::string::npos);
  terminal.type("/help\r");
  EXPECT_NE(terminal.read_until("\n> ").find("/retry"), std::string::npos);
  terminal.type("\x04");
  EXPECT_EQ(terminal.wait(), 0);
  const Json talk = Json::parse(slurp(path("talk.json")));
  ASSERT_EQ(talk.size(), 5u) << talk;
  EXPECT_EQ(talk[0], Json({{"role", "system"}, {"content", "Be brief."}}));
  EXPECT_EQ(talk[1], Json({{"role", "user"}, {"content", "again"}}));
  EXPECT_EQ(talk[2]["role"], "assistant");
  EXPECT_EQ(talk[3]["content"], "two \nlines");
}

TEST_F(Chat, CtrlCStopsTheReplyAndNotTheChat) {
  Terminal terminal(chat("1000000", {"--slide"}), 80);
  terminal.read_until("> ");
  terminal.type("hello\r");
  terminal.read_until("hello\r\n");
  terminal.read_until("a");  // of the reply: before it, Ctrl-C would drop the line
  terminal.type("\x03");
  EXPECT_NE(terminal.read_until("\n> ").find("(stopped)"), std::string::npos);
  terminal.type("half a mess\x03");
  EXPECT_NE(terminal.read_until("\n> ").find("Ctrl-D leaves"), std::string::npos);
  terminal.type("/quit\r");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Chat, ReadsFromAPipe) {
  write("said.txt", "hello\n/save " + path("talk.json") + "\n");
  const std::string command =
      program() + " chat " + path("run") + " --tokens 4 < " + path("said.txt");
  Process process(root_, {"sh", "-c", command});
  EXPECT_EQ(process.wait(), 0) << process.err();
  EXPECT_EQ(process.out().find("> "), std::string::npos);
  EXPECT_EQ(Json::parse(slurp(path("talk.json")))[0]["content"], "hello");
}

// The template and the stop ids of a tokenizer's folder go with the model that is trained by it.
TEST_F(RunFixture, AModelTrainedFromScratchTalksByTheTemplateOfItsTokenizerAlsoWhereItIsExported) {
  const std::string source =
      "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{{ eos_token }}{% endfor %}";
  fs::create_directories(path("tok"));
  const Outcome learned =
      ingot({"tokenizer", "train", "--input", path("text.txt"), "--vocab", "280", "--special",
             "<s>", "--special", "</s>", "--out", path("tok/tokenizer.json")});
  ASSERT_EQ(learned.code, 0) << learned.err;
  write("tok/tokenizer_config.json",
        Json({{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"add_bos_token", false}}).dump());
  write("tok/chat_template.jinja", source);
  write("tok/generation_config.json", R"({"eos_token_id": [1, 7]})");
  const Outcome trained =
      ingot(train_args("run", {"data.tokenizer=" + path("tok"), "model.vocab=288"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const std::string to : {"hf", "gguf"}) {
    const Outcome exported =
        ingot({"checkpoint", "export", path("run"), "--to", to, "--out", path("model." + to)});
    ASSERT_EQ(exported.code, 0) << exported.err;
  }
  EXPECT_EQ(slurp(path("model.hf/chat_template.jinja")), source);
  const Json generation = Json::parse(slurp(path("model.hf/generation_config.json")));
  EXPECT_EQ(generation["eos_token_id"], Json({1, 7}));
  // A text begins as in training: with BOS.
  EXPECT_EQ(Json::parse(slurp(path("model.hf/tokenizer_config.json")))["add_bos_token"], true);
  // Which class of transformers reads it is that of the exported tokenizer.json.
  EXPECT_EQ(Json::parse(slurp(path("model.hf/tokenizer_config.json")))["tokenizer_class"],
            "PreTrainedTokenizerFast");
  const Outcome imported =
      ingot({"checkpoint", "import", path("model.gguf"), "--out", path("imported")});
  ASSERT_EQ(imported.code, 0) << imported.err;

  write("said.txt", "ab\n/quit\n");
  std::vector<std::string> replies;
  for (const char* model : {"run", "model.hf", "model.gguf", "imported"}) {
    Process process(root_, {"sh", "-c",
                            program() + " chat " + path(model) + " --tokens 8 --temperature 0 < " +
                                path("said.txt")});
    EXPECT_EQ(process.wait(), 0) << process.err();
    EXPECT_EQ(process.err().find("base model"), std::string::npos) << model;
    replies.push_back(process.out());
    EXPECT_EQ(replies.back(), replies.front()) << model;
  }
}

}  // namespace
}  // namespace ingot::test
