// An engine on a small model with drawn weights, and what it says to those who asked, for tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infer/engine.h"
#include "model/decode_rig.h"

namespace ingot::test {

// Keeps what it is told; stops the reply after `stop_after` tokens.
struct Heard final : RequestSink {
  explicit Heard(int64_t most = -1) : stop_after(most) {}

  void on_prompt_scores(std::vector<TokenScore> scores) override {
    order += 'p';
    prompt_scores = std::move(scores);
  }
  void on_next_scores(std::vector<TokenScore> scores) override {
    order += 'n';
    next_scores = std::move(scores);
  }
  bool on_token(const TokenScore& token) override {
    order += 't';
    tokens.push_back(token);
    return std::ssize(tokens) != stop_after;
  }
  void on_finish(const Finish& how) override {
    order += 'f';
    finish = how;
  }
  std::vector<int32_t> ids() const {
    std::vector<int32_t> all;
    for (const TokenScore& token : tokens) all.push_back(token.id);
    return all;
  }

  int64_t stop_after;
  std::string order;
  std::vector<TokenScore> prompt_scores, next_scores, tokens;
  std::optional<Finish> finish;
};

inline ModelConfig engine_model() {
  ModelConfig c = model_preset("llama_test");
  c.vocab = 64;
  return c;
}

inline std::vector<int32_t> some_ids(int64_t n, uint64_t which) {
  const RandomStream stream(5, Purpose::Test, 0, which);
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(stream.bits(i) % 64);
  return ids;
}

struct EngineRig {
  explicit EngineRig(DecodeOptions options = {}, const ModelConfig& model = engine_model(),
                     EngineOptions how = {})
      : decode(model, options), engine(decode.decoder(), how) {}

  std::shared_ptr<Heard> submit(Request request, int64_t stop_after = -1) {
    auto heard = std::make_shared<Heard>(stop_after);
    last = engine.submit(std::move(request), heard);
    return heard;
  }
  std::shared_ptr<Heard> finished(Request request) {
    auto heard = submit(std::move(request));
    engine.run();
    return heard;
  }

  DecodeRig decode;
  ReplyEngine engine;
  RequestId last = 0;
};

}  // namespace ingot::test
