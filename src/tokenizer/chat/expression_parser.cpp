#include "tokenizer/chat/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/error/error.h"

namespace ingot::chat {
namespace {

constexpr int kMostNesting = 200;
using Kind = Expression::Kind;

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
  if (++parser_.depth_ > kMostNesting) parser_.fail("expressions or blocks nested too deeply");
}

void ExpressionParser::fail(std::string_view what) const {
  const Token& token = next();
  throw Error(ErrorCode::Data,
              fmt::format("{}, line {} of the chat template: {}{}", origin_, token.line, what,
                          token.text.empty() ? std::string()
                                             : fmt::format(" at «{}»", token.text.substr(0, 40))));
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  take();
  return true;
}

bool ExpressionParser::skip_operator(std::string_view text) {
  if (!is_operator(text)) return false;
  take();
  return true;
}

void ExpressionParser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) fail(fmt::format("expected «{}»", text));
}

void ExpressionParser::expect(Token::Kind kind, std::string_view what) {
  if (next().kind != kind) fail(fmt::format("expected {}", what));
  take();
}

std::string ExpressionParser::expect_name() {
  if (next().kind != Token::Kind::Name) fail("expected a name");
  return take().text;
}

ExpressionPtr ExpressionParser::make(Kind kind, std::string text) const {
  auto made = std::make_unique<Expression>(Expression{kind});
  made->line = next().line;
  made->text = std::move(text);
  return made;
}

void ExpressionParser::adopt(Expression& parent, ExpressionPtr part) const {
  if (part) parent.depth = std::max(parent.depth, part->depth + 1);
  if (parent.depth > kMostNesting) fail("an expression nested too deeply");
  parent.parts.push_back(std::move(part));
}

void ExpressionParser::adopt(Expression& parent, Arguments arguments) const {
  for (const auto& value : arguments.positional) {
    parent.depth = std::max(parent.depth, value->depth + 1);
  }
  for (const auto& [name, value] : arguments.named) {
    parent.depth = std::max(parent.depth, value->depth + 1);
  }
  if (parent.depth > kMostNesting) fail("an expression nested too deeply");
  parent.arguments = std::move(arguments);
}

ExpressionPtr ExpressionParser::join(Kind kind, std::string text, ExpressionPtr a,
                                     ExpressionPtr b) const {
  auto joined = make(kind, std::move(text));
  adopt(*joined, std::move(a));
  adopt(*joined, std::move(b));
  return joined;
}

ExpressionPtr ExpressionParser::literal(Value value) {
  auto made = make(Kind::Literal);
  made->value = std::move(value);
  return made;
}

ExpressionPtr ExpressionParser::expression() {
  const Nesting nesting(*this);
  ExpressionPtr value = or_level();
  while (skip_name("if")) {
    ExpressionPtr choice = join(Kind::Choice, "", or_level(), std::move(value));
    adopt(*choice, skip_name("else") ? expression() : nullptr);
    value = std::move(choice);
  }
  return value;
}

ExpressionPtr ExpressionParser::expression_no_if() {
  const Nesting nesting(*this);
  return or_level();
}

ExpressionPtr ExpressionParser::tuple() {
  ExpressionPtr first = expression();
  if (!is_operator(",")) return first;
  ExpressionPtr list = make(Kind::Items, "tuple");
  adopt(*list, std::move(first));
  while (skip_operator(",")) {
    const bool ends = is_operator(")") || next().kind == Token::Kind::TagEnd ||
                      next().kind == Token::Kind::PrintEnd;
    if (ends) break;
    adopt(*list, expression());
  }
  return list;
}

ExpressionPtr ExpressionParser::binary(Level below,
                                       std::initializer_list<std::string_view> operators) {
  ExpressionPtr left = (this->*below)();
  while (true) {
    std::string_view found;
    for (const std::string_view text : operators) {
      if (is_operator(text)) found = text;
    }
    if (found.empty()) return left;
    take();
    left = join(Kind::Binary, std::string(found), std::move(left), (this->*below)());
  }
}

ExpressionPtr ExpressionParser::or_level() {
  ExpressionPtr left = and_level();
  while (skip_name("or")) left = join(Kind::Or, "", std::move(left), and_level());
  return left;
}

ExpressionPtr ExpressionParser::and_level() {
  ExpressionPtr left = not_level();
  while (skip_name("and")) left = join(Kind::And, "", std::move(left), not_level());
  return left;
}

ExpressionPtr ExpressionParser::not_level() {
  if (!skip_name("not")) return compare_level();
  const Nesting nesting(*this);
  ExpressionPtr negated = make(Kind::Not);
  adopt(*negated, not_level());
  return negated;
}

ExpressionPtr ExpressionParser::compare_level() {
  ExpressionPtr left = sum_level();
  ExpressionPtr comparison;
  while (true) {
    std::string found;
    for (const char* text : {"==", "!=", "<", "<=", ">", ">="}) {
      if (is_operator(text)) found = text;
    }
    if (is_name("in")) found = "in";
    const bool not_in =
        is_name("not") && at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(Token::Kind::Name, "in");
    if (not_in) {
      take();
      found = "not in";
    }
    if (found.empty()) return comparison ? std::move(comparison) : std::move(left);
    take();
    if (!comparison) {
      comparison = make(Kind::Compare);
      adopt(*comparison, std::move(left));
    }
    comparison->operators.push_back(std::move(found));
    adopt(*comparison, sum_level());
  }
}

ExpressionPtr ExpressionParser::sum_level() {
  return binary(&ExpressionParser::concat_level, {"+", "-"});
}

ExpressionPtr ExpressionParser::concat_level() {
  return binary(&ExpressionParser::term_level, {"~"});
}

ExpressionPtr ExpressionParser::term_level() {
  return binary(&ExpressionParser::power_level, {"*", "/", "//", "%"});
}

ExpressionPtr ExpressionParser::power_level() {
  return binary(&ExpressionParser::unary_level, {"**"});
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const Nesting nesting(*this);
  ExpressionPtr value;
  if (skip_operator("-")) {
    value = make(Kind::Minus);
    adopt(*value, unary(false));
  } else if (skip_operator("+")) {
    value = unary(false);
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filters ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::primary() {
  switch (next().kind) {
    case Token::Kind::Name: {
      const std::string name = take().text;
      if (name == "true" || name == "True") return literal(Value::Data(true));
      if (name == "false" || name == "False") return literal(Value::Data(false));
      if (name == "none" || name == "None") return literal(Value::Data(None{}));
      return make(Kind::Name, name);
    }
    case Token::Kind::String: {
      std::string text = take().text;
      while (next().kind == Token::Kind::String) text += take().text;
      return literal(Value::text(text));
    }
    case Token::Kind::Integer: {
      int64_t number = 0;
      const std::string& digits = next().text;
      const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (result.ec != std::errc()) fail("a number that is too large");
      take();
      return literal(Value::Data(number));
    }
    case Token::Kind::Float:
      return literal(Value::Data(std::strtod(take().text.c_str(), nullptr)));
    default:
      break;
  }
  if (skip_operator("[")) return list_literal();
  if (skip_operator("{")) return dict_literal();
  if (!skip_operator("(")) fail("expected a value");
  if (skip_operator(")")) return make(Kind::Items, "tuple");
  ExpressionPtr inner = tuple();
  expect_operator(")");
  return inner;
}

ExpressionPtr ExpressionParser::list_literal() {
  ExpressionPtr list = make(Kind::Items);
  while (!skip_operator("]")) {
    if (!list->parts.empty()) expect_operator(",");
    if (skip_operator("]")) break;
    adopt(*list, expression());
  }
  return list;
}

ExpressionPtr ExpressionParser::dict_literal() {
  ExpressionPtr dict = make(Kind::Pairs);
  while (!skip_operator("}")) {
    if (!dict->parts.empty()) expect_operator(",");
    if (skip_operator("}")) break;
    adopt(*dict, expression());
    expect_operator(":");
    adopt(*dict, expression());
  }
  return dict;
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr object) {
  while (true) {
    if (skip_operator(".")) {
      const bool is_number = next().kind == Token::Kind::Integer;  // list.0
      ExpressionPtr access = is_number ? make(Kind::Index) : make(Kind::Attribute, expect_name());
      adopt(*access, std::move(object));
      if (is_number) adopt(*access, primary());
      object = std::move(access);
    } else if (skip_operator("[")) {
      object = subscript(std::move(object));
    } else if (skip_operator("(")) {
      ExpressionPtr call = make(Kind::Call);
      adopt(*call, std::move(object));
      adopt(*call, arguments());
      object = std::move(call);
    } else {
      return object;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr object) {
  ExpressionPtr access = make(Kind::Index);
  adopt(*access, std::move(object));
  const auto bound = [&]() -> ExpressionPtr {
    return is_operator(":") || is_operator("]") ? nullptr : expression();
  };
  adopt(*access, bound());
  if (is_operator(":")) {
    access->kind = Kind::Slice;
    while (skip_operator(":") && access->parts.size() < 4) adopt(*access, bound());
    access->parts.resize(4);
  } else if (access->parts[1] == nullptr) {
    fail("expected an index");
  }
  expect_operator("]");
  return access;
}

Arguments ExpressionParser::arguments() {
  Arguments arguments;
  while (!skip_operator(")")) {
    if (!arguments.positional.empty() || !arguments.named.empty()) expect_operator(",");
    if (skip_operator(")")) break;
    const bool named = next().kind == Token::Kind::Name && at_ + 1 < tokens_.size() &&
                       tokens_[at_ + 1].is(Token::Kind::Operator, "=");
    if (named) {
      std::string name = take().text;
      take();
      arguments.named.emplace_back(std::move(name), expression());
    } else {
      arguments.positional.push_back(expression());
    }
  }
  return arguments;
}

ExpressionPtr ExpressionParser::filters_of_block() {
  ExpressionPtr text = make(Kind::Name, std::string(kBlockText));
  if (is_operator("|")) return filters(std::move(text));
  ExpressionPtr filter = make(Kind::Filter, expect_name());
  adopt(*filter, std::move(text));
  if (skip_operator("(")) adopt(*filter, arguments());
  return filters(std::move(filter));
}

ExpressionPtr ExpressionParser::filters(ExpressionPtr object) {
  while (true) {
    if (skip_operator("|")) {
      ExpressionPtr filter = make(Kind::Filter, expect_name());
      adopt(*filter, std::move(object));
      if (skip_operator("(")) adopt(*filter, arguments());
      object = std::move(filter);
    } else if (skip_name("is")) {
      object = test(std::move(object));
    } else if (is_operator("(") || is_operator(".") || is_operator("[")) {
      object = postfix(std::move(object));
    } else {
      return object;
    }
  }
}

bool ExpressionParser::test_has_bare_argument() const {
  switch (next().kind) {
    case Token::Kind::Name:
      for (const char* word : {"else", "or", "and", "if", "is", "not", "in"}) {
        if (is_name(word)) return false;
      }
      return true;
    case Token::Kind::String:
    case Token::Kind::Integer:
    case Token::Kind::Float:
      return true;
    default:
      return is_operator("[") || is_operator("{");
  }
}

ExpressionPtr ExpressionParser::test(ExpressionPtr object) {
  const bool negated = skip_name("not");
  ExpressionPtr test = make(Kind::Test, expect_name());
  adopt(*test, std::move(object));
  if (skip_operator("(")) {
    adopt(*test, arguments());
  } else if (test_has_bare_argument()) {
    Arguments bare;
    bare.positional.push_back(postfix(primary()));
    adopt(*test, std::move(bare));
  }
  if (!negated) return test;
  ExpressionPtr result = make(Kind::Not);
  adopt(*result, std::move(test));
  return result;
}

std::vector<std::string> ExpressionParser::new_names() {
  const bool in_brackets = skip_operator("(");
  std::vector<std::string> names = {expect_name()};
  while (skip_operator(",")) names.push_back(expect_name());
  if (in_brackets) expect_operator(")");
  return names;
}

}  // namespace ingot::chat
