// `ingot serve` and its clients.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "serve/serve_fixture.h"

namespace ingot::test {
namespace {

const Json kTalk = {{{"role", "user"}, {"content", "Line 5"}}};

TEST_F(Serve, AnswersAsGenerateDoes) {
  start();
  EXPECT_EQ(get("/health").json()["status"], "ok");
  const Json model = get("/v1/models").json()["data"][0];
  EXPECT_EQ(model["id"], "tiny");
  EXPECT_EQ(model["is_base_model"], true);
  const Json done = completed({{"max_tokens", 20}, {"temperature", 0}, {"ignore_eos", true}});
  const Outcome generated = ingot({"generate", path("run"), "--prompt", "Line 5", "--tokens", "20",
                                   "--temperature", "0", "--ignore-eos"});
  EXPECT_EQ("Line 5" + done["choices"][0]["text"].get<std::string>() + "\n", generated.out);
  EXPECT_EQ(done["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(done["usage"]["completion_tokens"], 20);
  EXPECT_EQ(done["usage"]["prompt_tokens"], 7);  // BOS
  const Json ids = post("/tokenize", {{"content", "Line é"}}).json()["tokens"];
  EXPECT_EQ(post("/detokenize", {{"tokens", ids}}).json()["content"], "Line é");
  const Json same = completed({{"prompt", {256, 76, 105, 110, 101, 32, 53}},
                               {"max_tokens", 20},
                               {"temperature", 0},
                               {"ignore_eos", true}});
  EXPECT_EQ(same["choices"][0]["text"], done["choices"][0]["text"]);
}

TEST_F(Serve, StreamsSayWhatWholeAnswersSay) {
  start();
  Json body = {{"messages", kTalk}, {"max_tokens", 40},  {"seed", 3},         {"n", 3},
               {"logprobs", true},  {"top_logprobs", 2}, {"ignore_eos", true}};
  const Json whole = post("/v1/chat/completions", body).json();
  ASSERT_EQ(whole["choices"].size(), 3u);
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const auto events = events_of(post("/v1/chat/completions", body).body);
  std::vector<std::string> texts(3);
  std::vector<Json> logs(3, Json::array());
  std::vector<int> ends(3);
  for (const Json& event : events) {
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    if (event["choices"].empty()) continue;
    const Json& choice = event["choices"][0];
    const auto index = choice["index"].get<size_t>();
    texts[index] += choice["delta"].value("content", "");
    if (!choice["logprobs"].is_null())
      for (const Json& log : choice["logprobs"]["content"]) logs[index].push_back(log);
    ends[index] += choice["finish_reason"].is_null() ? 0 : 1;
  }
  for (size_t i = 0; i < 3; ++i) {
    const Json& choice = whole["choices"][i];
    EXPECT_EQ(texts[i], choice["message"]["content"]);
    EXPECT_EQ(logs[i], choice["logprobs"]["content"]);
    EXPECT_EQ(logs[i].size(), 40u);
    EXPECT_EQ(ends[i], 1);
  }
  EXPECT_NE(texts[0], texts[1]);
  for (const char* count : {"prompt_tokens", "completion_tokens", "total_tokens"})
    EXPECT_EQ(events.back()["usage"][count], whole["usage"][count]) << count;
  EXPECT_EQ(events.back()["usage"]["completion_tokens"], 120);
  // A choice's text depends on its own seed alone.
  body["seed"] = 4;
  body["n"] = 1;
  body["stream"] = false;
  body.erase("stream_options");
  EXPECT_EQ(post("/v1/chat/completions", body).json()["choices"][0]["message"]["content"],
            texts[1]);
}

TEST_F(Serve, EchoTellsThePromptsLogProbabilities) {
  start();
  const Json done = completed({{"prompt", {"Line 5", "Line"}},
                               {"echo", true},
                               {"max_tokens", 1},
                               {"logprobs", 1},
                               {"temperature", 0}});
  ASSERT_EQ(done["choices"].size(), 2u);
  const Json logs = done["choices"][0]["logprobs"];
  for (const char* list : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    EXPECT_EQ(logs[list].size(), 8u) << list;  // BOS, six bytes, one more
  EXPECT_TRUE(logs["token_logprobs"][0].is_null());
  EXPECT_TRUE(logs["top_logprobs"][0].is_null());
  for (size_t i = 1; i < 8; ++i) {
    const double own = logs["token_logprobs"][i];
    EXPECT_LT(own, 0);
    EXPECT_LE(own, logs["top_logprobs"][i].begin()->get<double>());
  }
  EXPECT_EQ(logs["token_logprobs"][7], *logs["top_logprobs"][7].begin());  // greedy
  EXPECT_TRUE(done["choices"][0]["text"].get<std::string>().starts_with("Line 5"));
  // Scores alone; they are those of the beginning of the longer prompt.
  const Json scores =
      completed({{"prompt", "Line"}, {"echo", true}, {"max_tokens", 0}, {"logprobs", 0}});
  const Json alone = scores["choices"][0]["logprobs"]["token_logprobs"];
  ASSERT_EQ(alone.size(), 5u);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(alone[i], logs["token_logprobs"][i]);
}

TEST_F(Serve, RefusesByNameAndGoesOn) {
  start();
  struct Bad {
    const char *path, *body, *param;
  };
  for (const auto& [where, body, param] : std::initializer_list<Bad>{
           {"/v1/completions", R"({})", "prompt"},
           {"/v1/completions", R"({"prompt": []})", "prompt"},
           {"/v1/completions", R"({"prompt": [5, 100000]})", "prompt"},
           {"/v1/completions", R"({"prompt": "a", "top_p": 0})", "top_p"},
           {"/v1/completions", R"({"prompt": "a", "temperature": "x"})", "temperature"},
           {"/v1/completions", R"({"prompt": "a", "temperature": -1})", "temperature"},
           {"/v1/completions", R"({"prompt": "a", "max_tokens": 0})", "max_tokens"},
           {"/v1/completions", R"({"prompt": "a", "n": 1000})", "n"},
           {"/v1/completions", R"({"prompt": "a", "best_of": 3})", "best_of"},
           {"/v1/completions", R"({"prompt": "a", "suffix": "b"})", "suffix"},
           {"/v1/completions", R"({"prompt": "a", "nonsense": 1})", "nonsense"},
           {"/v1/completions", R"({"prompt": "a", "stop": [""]})", "stop"},
           {"/v1/completions", R"({"prompt": "a", "logit_bias": {"x": 1}})", "logit_bias"},
           {"/v1/completions", R"({"prompt": "a", "logit_bias": {"99999": 1}})", "logit_bias"},
           {"/v1/chat/completions", R"({"messages": []})", "messages"},
           {"/v1/chat/completions", R"({"messages": [{"role": "user"}, 1]})", "messages.1"},
           {"/v1/chat/completions",
            R"({"messages": [{"role":"user","content":[{"type":"image_url"}]}]})",
            "messages.0.content.0"},
           {"/v1/chat/completions",
            R"({"messages": [{"role":"user","content":"a"}], "tools": [{}]})", "tools"},
           {"/v1/chat/completions",
            R"({"messages": [{"role":"user","content":"a"}],
                "response_format": {"type":"json_object"}})",
            "response_format"},
           {"/v1/chat/completions",
            R"({"messages": [{"role":"user","content":"a"}], "top_logprobs": 2})", "top_logprobs"},
           {"/tokenize", R"({"content": 5})", "content"},
           {"/detokenize", R"({"tokens": [-1]})", "tokens"}}) {
    const Answer answer = answer_of(Client(port_).ask("POST", where, body));
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    const Json error = answer.json()["error"];
    EXPECT_EQ(error["param"], param) << answer.body;
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_NE(error["message"], "");
  }
  const auto status = [&](const char* method, const char* where, const char* body) {
    return answer_of(Client(port_).ask(method, where, body)).status;
  };
  EXPECT_EQ(status("POST", "/v1/embeddings", "{}"), 404);
  EXPECT_EQ(status("GET", "/v1/completions", ""), 405);
  EXPECT_EQ(status("POST", "/v1/completions", "not JSON"), 400);
  EXPECT_EQ(status("POST", "/v1/completions", R"({"model": "gpt-9", "prompt": "a"})"), 404);
  const std::string too_long(100'000, 'a');
  EXPECT_EQ(post("/v1/completions", {{"prompt", too_long}}).status, 400);
  EXPECT_EQ(answer_of(Client(port_).ask("POST", "/v1/completions",
                                        "{\"prompt\": \"\xFF\xC3\", \"max_tokens\": 1}"))
                .status,
            200);
  const Json harmless = {{"messages", kTalk},
                         {"tools", Json::array()},
                         {"user", "me"},
                         {"tool_choice", "none"},
                         {"max_tokens", 1},
                         {"stop", nullptr},
                         {"response_format", {{"type", "text"}}}};
  EXPECT_EQ(post("/v1/chat/completions", harmless).status, 200);
}

TEST_F(Serve, AClientThatGoesFreesItsPages) {
  start({"--parallel", "1"});
  // The one that is written, and one that waits.
  for (int i = 0; i < 2; ++i) {
    const Json body = {{"prompt", "Line"},
                       {"max_tokens", 1'000'000},
                       {"ignore_eos", true},
                       {"stream", true},
                       {"n", 64}};
    const std::string text = body.dump();
    Client client(port_);
    client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                std::to_string(text.size()) + "\r\n\r\n" + text);
    client.receive_until("\r\n\r\n");
  }
  EXPECT_TRUE(comes_true([&] {
    return metric("ingot_pages_in_use") == 0 && metric("ingot_queued") == 0 &&
           metric("ingot_running") == 0;
  }));
  EXPECT_GT(metric("ingot_cancelled_total"), 0);
  EXPECT_EQ(post("/v1/completions", {{"prompt", "a"}, {"max_tokens", 1}}).status, 200);
}

TEST_F(Serve, ManyClientsGetTheirOwnAnswers) {
  start({"--parallel", "4"});
  const auto wanted = [&](int i) {
    return completed({{"prompt", "Line " + std::to_string(i)},
                      {"max_tokens", 12},
                      {"seed", i},
                      {"ignore_eos", true}})["choices"][0]["text"]
        .get<std::string>();
  };
  std::vector<std::string> alone(12), together(12);
  for (int i = 0; i < 12; ++i) alone[static_cast<size_t>(i)] = wanted(i);
  std::vector<std::thread> clients;
  for (int i = 0; i < 12; ++i)
    clients.emplace_back([&, i] { together[static_cast<size_t>(i)] = wanted(i); });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(together, alone);
}

TEST_F(Serve, TellsThatTooManyWait) {
  start({"--parallel", "1", "--queue", "2"});
  const Answer answer = post("/v1/completions", {{"prompt", "a"}, {"n", 3}, {"max_tokens", 5}});
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.json()["error"]["type"], "rate_limit_error");
}

TEST_F(Serve, OthersNeedTheKeyAndTheNameOfThisMachine) {
  write("key", "secret\n");
  start({"--key-file", path("key")});
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/v1/models").status, 401);
  EXPECT_EQ(get("/metrics").status, 401);
  const Json body = {{"prompt", "a"}, {"max_tokens", 1}};
  EXPECT_EQ(post("/v1/completions", body).status, 401);
  EXPECT_EQ(post("/v1/completions", body, "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(post("/v1/completions", body, "Authorization: Bearer secret\r\n").status, 200);
  EXPECT_EQ(post("/v1/completions", body,
                 "Authorization: Bearer secret\r\nOrigin: http://evil.example\r\n")
                .status,
            403);
  const Outcome open = ingot({"serve", path("run"), "--host", "0.0.0.0", "--port", "0"});
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.err.find("--key-file"), std::string::npos) << open.err;
  const Outcome taken = ingot({"serve", path("run"), "--port", std::to_string(port_)});
  EXPECT_NE(taken.code, 0);
  EXPECT_NE(taken.err.find("is in use: give another --port"), std::string::npos) << taken.err;
}

TEST_F(Serve, TheTerminationSignalLetsRepliesEnd) {
  start();
  const Json body = {
      {"prompt", "Line"}, {"max_tokens", 100}, {"ignore_eos", true}, {"stream", true}};
  const std::string text = body.dump();
  Client client(port_);
  client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(text.size()) + "\r\n\r\n" + text);
  client.receive_until("data: ");
  server_->signal(SIGTERM);
  const std::string rest = client.receive_all();
  EXPECT_NE(rest.find("\"finish_reason\":\"length\""), std::string::npos);
  EXPECT_NE(rest.find("data: [DONE]"), std::string::npos);
  EXPECT_EQ(server_->wait(), 0);
}

TEST_F(Serve, ThePageAsksNobodyElse) {
  start();
  const std::string reply = Client(port_).get("/");
  EXPECT_NE(reply.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  EXPECT_EQ(reply.find("NONCE-OF"), std::string::npos);
  const std::string page = answer_of(reply).body;
  for (const char* foreign : {"src=", "@import", "innerHTML", "outerHTML", "insertAdjacentHTML",
                              "document.write", "eval("})
    EXPECT_EQ(page.find(foreign), std::string::npos) << foreign;
}

}  // namespace
}  // namespace ingot::test
