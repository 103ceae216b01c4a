// Jinja templates of plain text, as lm-evaluation-harness's task files use them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/chat/syntax.h"
#include "tokenizer/chat/value.h"

namespace ingot::chat {

// Like a chat template, but no whitespace is trimmed.
class TextTemplate {
 public:
  // Throws ErrorCode::Data, naming `origin` and the line, for unsupported syntax.
  TextTemplate(std::string_view source, std::string_view origin);

  // `variables`: a dict. Throws ErrorCode::Data if it lacks a name that the template reads, other
  // than to ask whether it is defined.
  std::string render(const Value& variables) const;

 private:
  std::string origin_;
  std::vector<Node> nodes_;
  std::set<std::string> reads_;  // names that it neither sets nor asks for
};

// ast.literal_eval(): texts, numbers, True, False, None, and lists and tuples of these. Throws
// ErrorCode::Data, naming `origin`, for anything else.
Value python_literal(std::string_view text, std::string_view origin);

}  // namespace ingot::chat
