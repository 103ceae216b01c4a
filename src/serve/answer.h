// Answers one call: takes the tokens of its choices from the engine and writes them to the client.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "infer/model.h"
#include "net/http_reply.h"
#include "serve/call.h"
#include "serve/choice.h"
#include "serve/metrics.h"

namespace ingot::serve {

class Answer : public std::enable_shared_from_this<Answer> {
 public:
  // `model` and `metrics` must outlive it.
  Answer(Call call, LoadedModel& model, std::string model_name, Metrics& metrics,
         std::shared_ptr<net::HttpReply> reply);

  // Submits every choice to the engine. Throws ApiError if it refuses one; then nothing is written.
  void start();

 private:
  class Sink;

  void on_prompt(size_t choice, const std::vector<TokenScore>& scores);
  bool on_token(size_t choice, const TokenScore& token);
  void on_finish(size_t choice, const Finish& finish);
  void on_closed();
  // Call these with the mutex held.
  void tell_news();
  void end_if_done();
  void tell_end();
  void tell_failure();
  Json frame(Json choices) const;
  Json usage() const;
  void send_event(const Json& event);
  double seconds() const;

  Call call_;
  LoadedModel& model_;
  std::string model_name_, id_;
  Metrics& metrics_;
  std::shared_ptr<net::HttpReply> reply_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int64_t created_;

  std::mutex mutex_;
  std::vector<Choice> choices_;
  std::vector<RequestId> requests_;
  size_t num_finished_ = 0;
  int64_t prompt_tokens_ = 0, reused_tokens_ = 0, new_tokens_ = 0;
  std::string failure_;
  bool has_first_token_ = false;
  bool is_started_ = false;  // until then nothing is written: another choice may be refused
  bool is_over_ = false;
};

}  // namespace ingot::serve
