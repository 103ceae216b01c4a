// One reply of the model while it is written, in the JSON of OpenAI's API.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infer/engine.h"
#include "infer/text_stream.h"
#include "serve/call.h"

namespace ingot::serve {

class Choice {
 public:
  Choice(int64_t index, const Call& call, const std::vector<int32_t>& prompt,
         const Tokenizer& tokenizer);

  // With echo: adds the prompt, and the scores of prompt[1] and later ids if they were asked for.
  void add_prompt(const std::vector<TokenScore>& scores);
  bool add_token(const TokenScore& token);  // false: a stop string is complete
  void finish(FinishReason reason);

  bool is_finished() const { return !finish_reason_.empty(); }
  bool has_news() const {
    return !text_.empty() || has_logs_ || (is_finished() && !has_told_end_) ||
           (call_.is_chat && !has_told_role_);
  }
  // What is new since the last call, as an item of "choices". `whole`: the answer is not a
  // stream.
  Json take_news(bool whole);

 private:
  Json logs() const;
  Json token_json(int32_t id, double logprob) const;
  void add_log(int32_t id, const TokenScore* score);

  const Call& call_;
  const std::vector<int32_t>& prompt_;
  const Tokenizer& tokenizer_;
  int64_t index_;
  TextStream stream_;
  std::string text_;  // not sent yet; the same for the logs below
  bool has_logs_ = false;
  Json chat_logs_ = Json::array();
  Json tokens_ = Json::array(), logprobs_ = Json::array(), alternatives_ = Json::array(),
       offsets_ = Json::array();
  int64_t characters_ = 0;  // in the text of all tokens so far
  std::string finish_reason_;
  bool has_told_role_ = false, has_told_end_ = false;
};

}  // namespace ingot::serve
