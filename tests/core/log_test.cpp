#include "core/error/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace ingot {
namespace {

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { log::configure(log::Level::Info, log::Format::Text); }

  template <class F>
  std::string captured(const F& f) {
    ::testing::internal::CaptureStderr();
    f();
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, TextLinesCarryEventAndFields) {
  log::configure(log::Level::Info, log::Format::Text);
  const std::string line = captured([] {
    log::info("saved", {{"step", "100"}, {"dir", "a b"}, {"why", ""}});
  });
  EXPECT_TRUE(std::regex_match(
      line, std::regex(R"re(\d\d:\d\d:\d\d info saved step=100 dir="a b" why=""\n)re")))
      << line;
}

TEST_F(LogTest, JsonLinesEscapeWhatTheyMust) {
  log::configure(log::Level::Info, log::Format::Json);
  const std::string line = captured([] { log::warn("odd", {{"text", "a \"b\"\\\n{}"}}); });
  EXPECT_TRUE(std::regex_match(
      line,
      std::regex(
          R"re(\{"time":"[^"]+","level":"warning","event":"odd","text":"a \\"b\\"\\\\\\u000a\{\}"\}\n)re")))
      << line;
}

TEST_F(LogTest, LinesBelowTheLevelAreDropped) {
  log::configure(log::Level::Warn, log::Format::Text);
  const std::string lines = captured([] {
    log::debug("no");
    log::info("no");
    log::warn("yes");
    log::error("yes");
  });
  EXPECT_EQ(lines.find("no"), std::string::npos);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  log::configure(log::Level::Off, log::Format::Text);
  EXPECT_EQ(captured([] { log::error("no"); }), "");
}

TEST_F(LogTest, ThreadsDoNotMixLines) {
  log::configure(log::Level::Info, log::Format::Text);
  const std::string lines = captured([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) log::info("event", {{"key", "value"}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  const std::regex whole(R"(\d\d:\d\d:\d\d info event key=value)");
  size_t begin = 0;
  int count = 0;
  for (size_t end; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_TRUE(std::regex_match(lines.substr(begin, end - begin), whole));
    ++count;
  }
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace ingot
