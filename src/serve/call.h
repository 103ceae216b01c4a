// What a request asks the model for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "infer/engine.h"
#include "serve/call_fields.h"
#include "tokenizer/chat/chat_format.h"

namespace ingot {
class LoadedModel;
}

namespace ingot::serve {

struct Call {
  bool is_chat = false, stream = false, include_usage = false;
  bool echo = false;        // completions: the text begins with the prompt
  int64_t logprobs = -1;    // number of alternatives per token; -1: no log-probabilities
  int64_t num_choices = 1;  // for each prompt
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> stop;
  Request request;  // for every choice, without prompt; choice i adds i to the seed
};

inline constexpr int64_t kMostChoices = 64;  // in one call, over all prompts

// Parse the bodies of POST /v1/chat/completions and /v1/completions. They throw ApiError, naming
// the field, for what is wrong or not supported, and Error if the chat template refuses the
// messages.
Call chat_call(const Json& body, LoadedModel& model, const ChatFormat& format);
Call completion_call(const Json& body, LoadedModel& model);

}  // namespace ingot::serve
