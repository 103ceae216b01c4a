#include "tokenizer/chat/text_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/chat/arithmetic.h"
#include "tokenizer/chat/interpreter.h"

namespace ingot::chat {
namespace {

// What every template can call.
constexpr std::string_view kGlobals[] = {
    "dict", "loop", "namespace", "none", "None", "raise_exception", "range", "strftime_now"};

// Names that a template reads and those that it sets anywhere, whose order is left to rendering.
struct Names {
  std::set<std::string> read, set;

  void add(const ExpressionPtr& expression) {
    if (expression) add(*expression);
  }
  void add(const Expression& expression) {
    if (expression.kind == Expression::Kind::Name) read.insert(expression.text);
    const bool asks = expression.text == "defined" || expression.text == "undefined" ||
                      expression.text == "default" || expression.text == "d";
    const bool is_question = asks && (expression.kind == Expression::Kind::Test ||
                                      expression.kind == Expression::Kind::Filter);
    for (const ExpressionPtr& part : expression.parts) {
      const bool is_asked_for = is_question && part == expression.parts.front() && part &&
                                part->kind == Expression::Kind::Name;
      if (!is_asked_for) add(part);
    }
    for (const ExpressionPtr& argument : expression.arguments.positional) add(argument);
    for (const auto& [name, argument] : expression.arguments.named) add(argument);
  }
  void add(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      set.insert(node.names.begin(), node.names.end());
      if (node.kind == Node::Kind::Macro) set.insert(node.text);
      for (const ExpressionPtr& value : node.defaults) add(value);
      add(node.value);
      add(node.condition);
      add(node.body);
      add(node.otherwise);
    }
  }
};

Value literal_of(const Expression& expression, std::string_view origin) {
  switch (expression.kind) {
    case Expression::Kind::Literal:
      return expression.value;
    case Expression::Kind::Minus:
      return calculate("*", literal_of(*expression.parts[0], origin), Value::Data(int64_t{-1}));
    case Expression::Kind::Items: {
      List items;
      for (const ExpressionPtr& part : expression.parts) items.push_back(literal_of(*part, origin));
      return Value::list(std::move(items));
    }
    default:
      break;
  }
  throw Error(ErrorCode::Data, fmt::format("{}: expected a list of texts", origin));
}

}  // namespace

TextTemplate::TextTemplate(std::string_view source, std::string_view origin)
    : origin_(origin), nodes_(parse(source, origin, Spaces::Kept)) {
  Names names;
  names.add(nodes_);
  for (const std::string& name : names.read) {
    const bool is_global = std::ranges::find(kGlobals, name) != std::end(kGlobals);
    if (!is_global && !names.set.contains(name) && name != kBlockText) reads_.insert(name);
  }
}

std::string TextTemplate::render(const Value& variables) const {
  for (const std::string& name : reads_)
    check(variables.find(name) != nullptr, ErrorCode::Data, "{}: «{}» is no field of the document",
          origin_, name);
  return run(nodes_, variables, origin_);
}

Value python_literal(std::string_view text, std::string_view origin) {
  const std::vector<Node> nodes = parse(fmt::format("{{{{{}}}}}", text), origin, Spaces::Kept);
  check(nodes.size() == 1 && nodes.front().kind == Node::Kind::Print, ErrorCode::Data,
        "{}: expected a list of texts, got \"{}\"", origin, text);
  return literal_of(*nodes.front().value, origin);
}

}  // namespace ingot::chat
