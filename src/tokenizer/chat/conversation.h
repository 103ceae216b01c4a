// Prepares the variables of a chat template from a conversation, as apply_chat_template of
// transformers does.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// `conversation`: JSON, a list of messages or an object with "messages" and other variables of the
// template; `known`: a JSON object of variables that it may override. The result is for
// ChatTemplate::render(): missing tools and documents are null, null members of messages are
// dropped, reasoning is available as reasoning_content and thinking. Throws ErrorCode::Data, naming
// `origin`, for other JSON, no messages, and integers beyond 64 bits.
std::string chat_variables(std::string_view conversation, std::string_view known,
                           bool generation_prompt, std::string_view origin);

}  // namespace ingot
