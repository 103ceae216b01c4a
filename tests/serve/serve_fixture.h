// `ingot serve` of a tiny model, and a client that asks it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run_fixture.h"
#include "support/http_client.h"

namespace ingot::test {

using Json = nlohmann::json;
using testing_support::Client;

struct Answer {
  int status = 0;
  std::string body;
  Json json() const { return Json::parse(body); }
};

inline Answer answer_of(const std::string& reply) {
  const size_t end = reply.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  std::string body = reply.substr(end + 4);
  if (reply.find("chunked") < end) {  // put together
    std::string whole;
    for (size_t at = 0; at < body.size();) {
      const size_t line = body.find("\r\n", at);
      const size_t size = std::stoul(body.substr(at, line - at), nullptr, 16);
      whole += body.substr(line + 2, size);
      at = line + 2 + size + 2;
    }
    body = whole;
  }
  return {std::stoi(reply.substr(9, 3)), body};
}

// The events of a stream, without [DONE], which must be there.
inline std::vector<Json> events_of(const std::string& body) {
  std::vector<Json> events;
  bool is_done = false;
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find("\n\n", at);
    const std::string event = body.substr(at, end - at);
    EXPECT_TRUE(event.starts_with("data: ")) << event;
    EXPECT_FALSE(is_done);
    is_done = event == "data: [DONE]";
    if (!is_done) events.push_back(Json::parse(event.substr(6)));
    at = end + 2;
  }
  EXPECT_TRUE(is_done);
  return events;
}

class Serve : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    const Outcome trained = ingot(train_args("run"));
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  void start(const Args& more = {}) {
    server_ = std::make_unique<Process>(
        with({"serve", path("run"), "--port", "0", "--name", "tiny"}, more), root_);
    ASSERT_TRUE(comes_true([&] { return server_->out().ends_with("\n"); })) << server_->err();
    const std::string line = server_->out();
    port_ = std::stoi(line.substr(line.rfind(':') + 1));
  }
  Answer get(const std::string& where) const { return answer_of(Client(port_).get(where)); }
  Answer post(const std::string& where, const Json& body, const std::string& headers = "") const {
    return answer_of(Client(port_).ask("POST", where, body.dump(), headers));
  }
  Json completed(Json body) const {
    if (!body.contains("prompt")) body["prompt"] = "Line 5";
    const Answer answer = post("/v1/completions", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json();
  }
  int64_t metric(const std::string& name) const {
    const std::string text = get("/metrics").body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + name.size() + 2));
  }

  std::unique_ptr<Process> server_;
  int port_ = 0;
};

}  // namespace ingot::test
