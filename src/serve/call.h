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
  bool echo = false;        // completions: the prompt comes first
  int64_t logprobs = -1;    // alternatives beside each token; -1: none are told
  int64_t num_choices = 1;  // of each prompt
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> stop;
  Request request;  // of every choice, without prompt; seeds count up from its seed
};

inline constexpr int64_t kMostChoices = 64;  // of one request, all prompts together

// POST /v1/chat/completions and /v1/completions. Throw ApiError, naming the field, for what is
// wrong or not supported, and Error where the chat template refuses.
Call chat_call(const Json& body, LoadedModel& model, const ChatFormat& format);
Call completion_call(const Json& body, LoadedModel& model);

}  // namespace ingot::serve
