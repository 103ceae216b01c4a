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

}  // namespace
}  // namespace ingot::test
