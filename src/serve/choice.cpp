#include "serve/choice.h"

#include <algorithm>

#include "core/text/utf8.h"

namespace ingot::serve {
namespace {

int64_t characters_in(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

Choice::Choice(int64_t index, const Call& call, const std::vector<int32_t>& prompt,
               const Tokenizer& tokenizer)
    : call_(call),
      prompt_(prompt),
      tokenizer_(tokenizer),
      index_(index),
      stream_(tokenizer, call.stop, prompt.size() == 1 ? prompt[0] : -1) {}

Json Choice::token_json(int32_t id, double logprob) const {
  const std::string text = tokenizer_.decode(id);
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<uint8_t>(c));
  return {{"token", valid_utf8(text)}, {"logprob", logprob}, {"bytes", std::move(bytes)}};
}

void Choice::add_log(int32_t id, const TokenScore* score) {
  if (call_.logprobs < 0) return;
  has_logs_ = true;
  if (call_.is_chat) {
    Json entry = token_json(id, score->logprob);
    entry["top_logprobs"] = Json::array();
    for (const IdLogprob& other : score->likeliest)
      entry["top_logprobs"].push_back(token_json(other.id, other.logprob));
    chat_logs_.push_back(std::move(entry));
    return;
  }
  const std::string text = tokenizer_.decode(id);
  tokens_.push_back(valid_utf8(text));
  offsets_.push_back(characters_);
  characters_ += characters_in(text);
  logprobs_.push_back(score == nullptr ? Json() : Json(score->logprob));
  if (score == nullptr || call_.logprobs == 0) {
    alternatives_.push_back(nullptr);
    return;
  }
  Json top = Json::object();
  for (const IdLogprob& other : score->likeliest) {
    const std::string name = valid_utf8(tokenizer_.decode(other.id));
    if (!top.contains(name)) top[name] = other.logprob;  // the likeliest of those that look alike
  }
  alternatives_.push_back(std::move(top));
}

void Choice::add_prompt(const std::vector<TokenScore>& scores) {
  text_ += valid_utf8(tokenizer_.decode(prompt_));
  if (call_.logprobs < 0) return;
  add_log(prompt_[0], nullptr);
  for (const TokenScore& score : scores) add_log(score.id, &score);
}

bool Choice::add_token(const TokenScore& token) {
  text_ += stream_.add(token.id);
  add_log(token.id, &token);
  return !stream_.is_stopped();
}

void Choice::finish(FinishReason reason) {
  text_ += stream_.finish();
  finish_reason_ = reason == FinishReason::Length ? "length" : "stop";
}

Json Choice::logs() const {
  if (call_.logprobs < 0) return nullptr;
  if (call_.is_chat) return {{"content", chat_logs_}, {"refusal", nullptr}};
  return {{"tokens", tokens_},
          {"token_logprobs", logprobs_},
          {"top_logprobs", alternatives_},
          {"text_offset", offsets_}};
}

Json Choice::take_news(bool whole) {
  Json news = {{"index", index_}};
  if (!call_.is_chat) {
    news["text"] = text_;
  } else if (whole) {
    news["message"] = {{"role", "assistant"}, {"content", text_}, {"refusal", nullptr}};
  } else {
    news["delta"] = Json::object();
    if (!std::exchange(has_told_role_, true)) news["delta"]["role"] = "assistant";
    if (!text_.empty() || news["delta"].contains("role")) news["delta"]["content"] = text_;
  }
  news["logprobs"] = whole || has_logs_ ? logs() : Json();
  news["finish_reason"] = is_finished() ? Json(finish_reason_) : Json();
  has_told_end_ = is_finished();
  text_.clear();
  has_logs_ = false;
  for (Json* list : {&chat_logs_, &tokens_, &logprobs_, &alternatives_, &offsets_}) list->clear();
  return news;
}

}  // namespace ingot::serve
