// A conversation as a model reads it: the text of its chat template, and that text's ids.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/chat/chat_template.h"
#include "tokenizer/chat/marked_text.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// As ChatTemplate's render(), and which bytes of the text the template wrote: those of its own
// text, of variables that `own`, a JSON object, has with the same value (bos_token), and roles that
// every program knows ("user"). Bytes made of both count as a message's.
MarkedText render_marked(const ChatFiles::Source& chat_template, std::string_view variables,
                         std::string_view own);

// The same of a conversation, as chat_variables() takes it; `own`: the template's own variables.
MarkedText rendered_conversation(const ChatFiles::Source& chat_template,
                                 std::string_view conversation, std::string_view own,
                                 bool generation_prompt, std::string_view origin);

// The ids of the whole text. Special tokens are found only where the template wrote every byte of
// them: what a message spells stays text.
std::vector<int32_t> ids_of(const MarkedText& rendered, const Tokenizer& tokenizer);

}  // namespace ingot
