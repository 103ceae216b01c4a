// Splits a chat template's source into tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::chat {

struct Token {
  enum class Kind {
    Text,        // outside of tags, with whitespace trimmed as the adjacent tags say
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
  std::string text;  // a string without quotes, with escapes resolved
  int line;

  bool is(Kind wanted, std::string_view wanted_text) const {
    return kind == wanted && text == wanted_text;
  }
};

// Trimmed: as Jinja with Hugging Face's trim_blocks and lstrip_blocks, which remove the first line
// end after a tag, the spaces between a line's beginning and a tag, and a last line end. Kept: what
// stands between tags stays.
enum class Spaces { Trimmed, Kept };

// `-` and `+` at a tag's ends are supported. Comments are dropped, {% raw %} is text. The last
// token is End. Throws ErrorCode::Data, naming `origin` and the line, for invalid or unterminated
// tokens.
std::vector<Token> lex(std::string_view source, std::string_view origin,
                       Spaces spaces = Spaces::Trimmed);

}  // namespace ingot::chat
