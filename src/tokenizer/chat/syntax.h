// The syntax tree of a chat template.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/chat/lexer.h"
#include "tokenizer/chat/value.h"

namespace ingot::chat {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Arguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Expression {
  enum class Kind {
    Literal,    // value
    Name,       // text
    Items,      // a list of parts, or a tuple, as text says
    Pairs,      // a dict of parts: key, value, key, value, …
    Attribute,  // parts[0].text
    Index,      // parts[0][parts[1]]
    Slice,      // parts[0][parts[1]:parts[2]:parts[3]]; null: left out
    Call,       // parts[0](arguments)
    Filter,     // parts[0] | text(arguments)
    Test,       // parts[0] is text(arguments)
    Not,        // not parts[0]
    Minus,      // -parts[0]
    Binary,     // parts[0] text parts[1]: + - * / // % ** ~
    And,        // parts[0] and parts[1]
    Or,         // parts[0] or parts[1]
    Compare,    // parts[0] operators[0] parts[1] operators[1] parts[2] …
    Choice,     // parts[1] if parts[0] else parts[2]; null: undefined
  };
  Kind kind;
  int line = 0;
  int depth = 0;  // of the tree below
  std::string text = {};
  Value value = {};
  std::vector<ExpressionPtr> parts = {};
  std::vector<std::string> operators = {};
  Arguments arguments = {};
};

// The input of a block's filters; no variable of a template can have this name.
inline constexpr std::string_view kBlockText = "block text";

struct Node {
  enum class Kind {
    Text,         // text
    Print,        // value
    If,           // value ? body : otherwise
    For,          // names in value if condition: body, else otherwise
    Set,          // names = value, or object.text = value
    SetBlock,     // names[0] = body as text, through the filters of value if there are any
    FilterBlock,  // body as text through the filters of value
    With,         // body, where names are defaults
    Macro,        // text(names = defaults): body
    Break,
    Continue,
    Body,  // body
  };
  Kind kind;
  int line = 0;
  std::string text = {};
  std::string object = {};  // a namespace
  std::vector<std::string> names = {};
  std::vector<ExpressionPtr> defaults = {};  // of a macro's parameters; null: none. With: values
  ExpressionPtr value = {}, condition = {};
  std::vector<Node> body = {}, otherwise = {};
};

// Throws ErrorCode::Data, naming `origin` and the line, for unsupported syntax.
std::vector<Node> parse(std::string_view source, std::string_view origin,
                        Spaces spaces = Spaces::Trimmed);

}  // namespace ingot::chat
