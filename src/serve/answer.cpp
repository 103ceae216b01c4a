#include "serve/answer.h"

#include <fmt/format.h>

#include <ctime>
#include <random>

#include "core/error/error.h"

namespace ingot::serve {
namespace {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string new_id(bool is_chat) {
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}{:08x}", is_chat ? "chatcmpl" : "cmpl", random(), random(),
                     random());
}

// "top_p" of «top_p: expected …», where the sentence begins with a field's name.
std::string field_of(std::string_view message) {
  const std::string_view name = message.substr(0, message.find(':'));
  const bool is_name =
      name.size() < 32 && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == name.npos;
  return is_name ? std::string(name) : "";
}

}  // namespace

// Keeps the answer while the engine writes a choice of it.
class Answer::Sink final : public RequestSink {
 public:
  Sink(std::shared_ptr<Answer> answer, size_t choice)
      : answer_(std::move(answer)), choice_(choice) {}
  void on_prompt_scores(std::vector<TokenScore> scores) override {
    answer_->on_prompt(choice_, scores);
  }
  bool on_token(const TokenScore& token) override { return answer_->on_token(choice_, token); }
  void on_finish(const Finish& finish) override { answer_->on_finish(choice_, finish); }

 private:
  std::shared_ptr<Answer> answer_;
  size_t choice_;
};

Answer::Answer(Call call, LoadedModel& model, std::string model_name, Metrics& metrics,
               std::shared_ptr<net::HttpReply> reply)
    : call_(std::move(call)),
      model_(model),
      model_name_(std::move(model_name)),
      id_(new_id(call_.is_chat)),
      metrics_(metrics),
      reply_(std::move(reply)),
      created_(static_cast<int64_t>(std::time(nullptr))) {
  choices_.reserve(call_.prompts.size() * static_cast<size_t>(call_.num_choices));
  for (const auto& prompt : call_.prompts)
    for (int64_t i = 0; i < call_.num_choices; ++i)
      choices_.emplace_back(static_cast<int64_t>(choices_.size()), call_, prompt,
                            model_.tokenizer());
  if (call_.echo && call_.logprobs < 0)
    for (Choice& choice : choices_) choice.add_prompt({});
}

double Answer::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

// The mutex is not held while the engine is called, which calls the sinks.
void Answer::start() {
  try {
    for (size_t i = 0; i < choices_.size(); ++i) {
      Request request = call_.request;
      request.prompt = call_.prompts[i / static_cast<size_t>(call_.num_choices)];
      request.sampling.seed += i % static_cast<size_t>(call_.num_choices);
      requests_.push_back(model_.engine().submit(std::move(request),
                                                 std::make_shared<Sink>(shared_from_this(), i)));
    }
  } catch (const Error& error) {
    on_closed();
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
    throw ApiError(400, error.what(), field_of(error.what()), "invalid_value");
  }
  reply_->on_closed([self = weak_from_this()] {
    if (const auto answer = self.lock()) answer->on_closed();
  });
  const std::scoped_lock lock(mutex_);
  is_started_ = true;
  if (call_.stream) {
    metrics_.answered(200);
    reply_->begin_stream(200, "text/event-stream; charset=utf-8");
    tell_news();
    reply_->on_room([self = weak_from_this()] {
      if (const auto answer = self.lock()) {
        const std::scoped_lock guard(answer->mutex_);
        if (!answer->is_over_) answer->tell_news();
      }
    });
  }
  end_if_done();
}

void Answer::on_closed() {
  for (const RequestId id : requests_) model_.engine().cancel(id);
}

void Answer::on_prompt(size_t choice, const std::vector<TokenScore>& scores) {
  const std::scoped_lock lock(mutex_);
  choices_[choice].add_prompt(scores);
}

bool Answer::on_token(size_t choice, const TokenScore& token) {
  const std::scoped_lock lock(mutex_);
  if (is_over_) return false;
  if (!std::exchange(has_first_token_, true)) metrics_.first_token(seconds());
  const bool goes_on = choices_[choice].add_token(token);
  // What a slow reader has no room for is told when it has.
  const bool has_room = reply_->waiting_bytes() <= net::HttpReply::kEnough;
  if (call_.stream && is_started_ && has_room) tell_news();
  return goes_on;
}

void Answer::on_finish(size_t choice, const Finish& finish) {
  const std::scoped_lock lock(mutex_);
  if (is_over_) return;
  const bool is_first_of_prompt = choice % static_cast<size_t>(call_.num_choices) == 0;
  if (is_first_of_prompt) {
    prompt_tokens_ += finish.prompt_tokens;
    reused_tokens_ += finish.reused_tokens;
  }
  new_tokens_ += finish.new_tokens;
  if (finish.reason == FinishReason::Failed && failure_.empty()) failure_ = finish.error;
  choices_[choice].finish(finish.reason);
  ++num_finished_;
  if (call_.stream && is_started_ && failure_.empty()) tell_news();
  end_if_done();
}

void Answer::end_if_done() {
  if (!is_started_ || is_over_) return;
  if (!failure_.empty())
    tell_failure();
  else if (num_finished_ == choices_.size())
    tell_end();
}

void Answer::tell_failure() {
  is_over_ = true;
  const ApiError error(500, failure_);
  if (call_.stream) {
    reply_->write("data: " + error.json() + "\n\n");
    reply_->end();
  } else {
    metrics_.answered(500);
    reply_->send(500, "application/json", error.json());
  }
}

Json Answer::usage() const {
  return {{"prompt_tokens", prompt_tokens_},
          {"completion_tokens", new_tokens_},
          {"total_tokens", prompt_tokens_ + new_tokens_},
          {"prompt_tokens_details", {{"cached_tokens", reused_tokens_}}}};
}

Json Answer::frame(Json choices) const {
  const char* const object = !call_.is_chat ? "text_completion"
                             : call_.stream ? "chat.completion.chunk"
                                            : "chat.completion";
  return {{"id", id_},
          {"object", object},
          {"created", created_},
          {"model", model_name_},
          {"choices", std::move(choices)}};
}

void Answer::send_event(const Json& event) {
  reply_->write("data: " + text_of(event) + "\n\n");
}

void Answer::tell_news() {
  for (Choice& choice : choices_) {
    if (!choice.has_news()) continue;
    Json event = frame(Json::array({choice.take_news(/*whole=*/false)}));
    if (call_.include_usage) event["usage"] = nullptr;
    send_event(event);
  }
}

void Answer::tell_end() {
  is_over_ = true;
  metrics_.finished(seconds());
  if (call_.stream) {
    tell_news();
    if (call_.include_usage) {
      Json event = frame(Json::array());
      event["usage"] = usage();
      send_event(event);
    }
    reply_->write("data: [DONE]\n\n");
    reply_->end();
    return;
  }
  Json choices = Json::array();
  for (Choice& choice : choices_) choices.push_back(choice.take_news(/*whole=*/true));
  Json answer = frame(std::move(choices));
  answer["usage"] = usage();
  metrics_.answered(200);
  reply_->send(200, "application/json", text_of(answer));
}

}  // namespace ingot::serve
