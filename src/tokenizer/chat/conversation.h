// What a chat template is given of a conversation, as apply_chat_template of transformers prepares
// it.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// `conversation`: JSON, a list of messages or an object with "messages" and what else the template
// knows; `known`: a JSON object of names that it may replace. The result is for
// ChatTemplate::render(): tools and documents are null where they are not given, members of
// messages that are null are dropped, reasoning is there as reasoning_content and thinking. Throws
// ErrorCode::Data, naming `origin`, for anything else, no messages, and integers beyond 64 bits.
std::string chat_variables(std::string_view conversation, std::string_view known,
                           bool generation_prompt, std::string_view origin);

}  // namespace ingot
