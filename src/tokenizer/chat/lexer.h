// A chat template's source as tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::chat {

struct Token {
  enum class Kind {
    Text,        // outside of tags, spaces taken off as the tags beside it say
    TagBegin,    // {%
    TagEnd,      // %}
    PrintBegin,  // {{
    PrintEnd,    // }}
    Name,
    String,
    Integer,
    Float,
    Operator,
    End,
  };
  Kind kind;
  std::string text;  // a string without its quotes, its escapes resolved
  int line;

  bool is(Kind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
};

// As Jinja cuts it with trim_blocks and lstrip_blocks, the way Hugging Face sets it up: the first
// line end after a tag goes, and so do spaces from a line's beginning to a tag; `-` and `+` at a
// tag's ends are obeyed. Comments are left out, {% raw %} is text. The last token is End. Throws
// ErrorCode::Data, naming `origin` and the line, on what is no token or does not end.
std::vector<Token> lex(std::string_view source, std::string_view origin);

}  // namespace ingot::chat
