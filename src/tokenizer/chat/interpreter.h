// Runs a parsed chat template.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/chat/syntax.h"

namespace ingot::chat {

// Renders a template with `variables`, a dict. Throws ErrorCode::Data, naming `origin` and the
// line, as ChatTemplate::render() does.
MarkedText run(const std::vector<Node>& nodes, const Value& variables, std::string_view origin);

}  // namespace ingot::chat
