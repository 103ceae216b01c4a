// Many clients of `ingot serve` at once: good ones, and all kinds of bad ones among them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "serve/serve_fixture.h"

namespace ingot::test {
namespace {

constexpr int kTokens = 24;
constexpr const char* kKey = "Authorization: Bearer secret\r\n";
constexpr std::array<const char*, 7> kPrompts = {
    "Line 5", "Line 17 of", "Line 5 of the text.\nLine", "é", "The end of the", "of", "text.\n\n"};

// What a client does; each number of a request has its kind.
enum class Kind {
  Whole,         // waits for the whole answer
  Stream,        // reads it as it is written
  SlowReader,    // … some bytes at a time, through a narrow window
  Trickled,      // sends the request some bytes at a time
  GoesMidway,    // closes after the first bytes of the answer
  GoesAtOnce,    // closes after the request
  GoesTrickled,  // closes in the midst of the request
  TooLarge,
  NoJson,
  NoHttp,
  WrongField,
  Unauthorised,
};
Kind kind_of(int number) {
  using enum Kind;
  constexpr std::array kinds = {
      Whole,      Whole,  GoesMidway, Stream,   Whole,  SlowReader,   Unauthorised, Whole,  Stream,
      Trickled,   Whole,  GoesAtOnce, Stream,   NoJson, Whole,        SlowReader,   NoHttp, Whole,
      WrongField, Stream, Whole,      TooLarge, Whole,  GoesTrickled, Stream};
  return kinds[static_cast<size_t>(number) % kinds.size()];
}

class ServeLoad : public Serve {
 protected:
  struct Load {
    int requests, clients;
    int measured_after;  // requests
  };
  struct Seen {
    std::map<Kind, int> kinds;
    int64_t resident_then = 0, resident_at_end = 0;  // KiB
  };

  void SetUp() override {
    Serve::SetUp();
    write("key", "secret\n");
    std::string prompts;
    for (const char* prompt : kPrompts) prompts += Json{{"prompt", prompt}}.dump() + "\n";
    write("prompts.jsonl", prompts);
    for (int seed = 0; seed <= 3; ++seed) {
      Args args = {"generate",
                   path("run"),
                   "--prompts",
                   path("prompts.jsonl"),
                   "--ignore-eos",
                   "--tokens",
                   std::to_string(kTokens)};
      args = with(args, seed == 0 ? Args{"--temperature", "0"}
                                  : Args{"--temperature", "1", "--seed", std::to_string(seed)});
      const Outcome generated = ingot(args);
      ASSERT_EQ(generated.code, 0) << generated.err;
      std::istringstream lines(generated.out);
      for (std::string line; std::getline(lines, line);)
        expected_[static_cast<size_t>(seed)].push_back(Json::parse(line)["text"]);
      ASSERT_EQ(expected_[static_cast<size_t>(seed)].size(), kPrompts.size());
    }
    EXPECT_NE(expected_[0], expected_[1]);
    EXPECT_NE(expected_[1], expected_[2]);
    start({"--parallel", "16", "--queue", "1000", "--max-body", "1", "--key-file", path("key")});
  }

  Seen run(const Load& load) {
    Seen seen;
    std::atomic<int> next = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < load.clients; ++i)
      clients.emplace_back([&] {
        for (int number = next++; number < load.requests; number = next++) {
          const Kind kind = kind_of(number);
          ask(number, kind);
          const std::scoped_lock lock(mutex_);
          ++seen.kinds[kind];
          if (++answered_ == load.measured_after) seen.resident_then = resident();
          one_more_.notify_all();
        }
      });
    for (std::thread& client : clients) client.join();
    EXPECT_TRUE(comes_true([&] {
      return metric("ingot_pages_in_use") == 0 && metric("ingot_queued") == 0 &&
             metric("ingot_running") == 0;
    }));
    // What was freed last may be given back a moment later.
    comes_true([&] { return resident() <= seen.resident_then; }, /*seconds=*/2);
    seen.resident_at_end = resident();
    return seen;
  }

  // With the key, unlike the fixture's.
  int64_t metric(const std::string& name) const {
    const std::string text = answer_of(Client(port_).ask("GET", "/metrics", "", kKey)).body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + name.size() + 2));
  }

 private:
  void ask(int number, Kind kind) {
    const auto prompt = static_cast<size_t>(number) % kPrompts.size();
    const int seed = number / 3 % 4;
    Json body = {{"prompt", kPrompts[prompt]}, {"max_tokens", kTokens}, {"ignore_eos", true}};
    if (seed == 0)
      body["temperature"] = 0;
    else
      body.update({{"temperature", 1}, {"seed", seed}});
    std::string headers = kKey;
    switch (kind) {
      case Kind::Whole:
        return expect_whole(Client(port_).ask("POST", kPath, body.dump(), headers), prompt, seed);
      case Kind::Trickled:
        return expect_whole(trickled(request_of(body)), prompt, seed);
      case Kind::Stream:
        body["stream"] = true;
        return expect_stream(Client(port_).ask("POST", kPath, body.dump(), headers), prompt,
                             {seed});
      case Kind::SlowReader:
        body.update({{"stream", true}, {"temperature", 1}, {"seed", 1}, {"n", 3}, {"logprobs", 5}});
        return expect_stream(read_slowly(request_of(body)), prompt, {1, 2, 3});
      case Kind::GoesMidway: {
        body.update({{"stream", true}, {"n", 4}, {"max_tokens", 200}});
        Client client(port_);
        client.send(request_of(body));
        EXPECT_TRUE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 200"));
        return;
      }
      case Kind::GoesAtOnce:
        return Client(port_).send(request_of(body));
      case Kind::GoesTrickled: {
        const std::string text = request_of(body);
        Client client(port_);
        for (size_t at = 0; at < text.size() / 2; at += 50) {
          client.send(text.substr(at, 50));
          pause();
        }
        return;
      }
      case Kind::TooLarge:
        body["prompt"] = std::string((size_t{1} << 20) + 1, 'a');
        return expect_refusal(Client(port_).ask("POST", kPath, body.dump(), headers), 413, "");
      case Kind::NoJson:
        return expect_refusal(Client(port_).ask("POST", kPath, body.dump().substr(0, 20), headers),
                              400, "");
      case Kind::NoHttp: {
        Client client(port_);
        client.send("POST /v1/completions\x01 HTTP/9\r\n\r\n");
        EXPECT_EQ(client.receive_some(13).substr(0, 9), "HTTP/1.1 ");
        return;
      }
      case Kind::WrongField:
        body["top_p"] = 0;
        return expect_refusal(Client(port_).ask("POST", kPath, body.dump(), headers), 400, "top_p");
      case Kind::Unauthorised:
        headers = number % 2 == 0 ? "" : "Authorization: Bearer wrong\r\n";
        return expect_refusal(Client(port_).ask("POST", kPath, body.dump(), headers), 401, "");
    }
  }

  static std::string request_of(const Json& body) {
    return Client::request("POST", kPath, body.dump(), kKey);
  }

  std::string trickled(const std::string& text) {
    Client client(port_);
    for (size_t at = 0; at < text.size(); at += 40) {
      client.send(text.substr(at, 40));
      pause();
    }
    return client.receive_all();
  }
  std::string read_slowly(const std::string& text) {
    Client client(port_, /*window=*/2048);
    client.send(text);
    std::string reply;
    for (int piece = 0;; ++piece) {
      const std::string bytes = client.receive_some(1000);
      if (bytes.empty()) return reply;
      reply += bytes;
      if (piece < 20) pause();
    }
  }
  // A slow client's: until another two requests are answered, or a moment has passed.
  void pause() {
    std::unique_lock lock(mutex_);
    const int until = answered_ + 2;
    one_more_.wait_for(lock, std::chrono::milliseconds(20), [&] { return answered_ >= until; });
  }

  void expect_whole(const std::string& reply, size_t prompt, int seed) {
    const Answer answer = answer_of(reply);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.json()["choices"][0]["text"], expected_[static_cast<size_t>(seed)][prompt]);
  }
  void expect_stream(const std::string& reply, size_t prompt, const std::vector<int>& seeds) {
    const Answer answer = answer_of(reply);
    ASSERT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> texts(seeds.size());
    for (const Json& event : events_of(answer.body))
      texts[event["choices"][0]["index"].get<size_t>()] +=
          event["choices"][0]["text"].get<std::string>();
    for (size_t i = 0; i < seeds.size(); ++i)
      EXPECT_EQ(texts[i], expected_[static_cast<size_t>(seeds[i])][prompt]);
  }
  static void expect_refusal(const std::string& reply, int status, const std::string& param) {
    const Answer answer = answer_of(reply);
    ASSERT_EQ(answer.status, status) << reply;
    const Json error = answer.json()["error"];
    EXPECT_NE(error["message"], "");
    if (!param.empty()) {
      EXPECT_EQ(error["param"], param);
    }
  }

  int64_t resident() const {
    const std::string status = slurp("/proc/" + std::to_string(server_->pid()) + "/status");
    return std::stoll(status.substr(status.find("VmRSS:") + 6));
  }

  static constexpr const char* kPath = "/v1/completions";
  std::array<std::vector<std::string>, 4> expected_;  // of seed, or greedy, and prompt
  std::mutex mutex_;
  std::condition_variable one_more_;
  int answered_ = 0;
};

TEST_F(ServeLoad, GoodAndBadClientsAtOnceGetWhatGenerateWrites) {
  const Seen seen = run({.requests = 500, .clients = 25, .measured_after = 250});
  EXPECT_EQ(seen.kinds.size(), 12u);
}

TEST_F(ServeLoad, TenThousandRequestsOfTwoHundredClientsLeaveNothingBehind) {
  const Seen seen = run({.requests = 10'000, .clients = 200, .measured_after = 2'000});
  EXPECT_EQ(seen.kinds.size(), 12u);
  std::printf("resident: %lld KiB after request 2,000, %lld KiB at the end\n",
              static_cast<long long>(seen.resident_then),
              static_cast<long long>(seen.resident_at_end));
#ifndef INGOT_SANITIZED
  EXPECT_LE(static_cast<double>(seen.resident_at_end),
            1.01 * static_cast<double>(seen.resident_then));
#endif
}

}  // namespace
}  // namespace ingot::test
