// Parses expressions of chat templates with Jinja's precedences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/chat/lexer.h"
#include "tokenizer/chat/syntax.h"

namespace ingot::chat {

class ExpressionParser {
 public:
  ExpressionParser(std::vector<Token> tokens, std::string_view origin)
      : tokens_(std::move(tokens)), origin_(origin) {}

  ExpressionPtr expression();            // a if b else c
  ExpressionPtr tuple();                 // a, b: a list; a: itself
  ExpressionPtr expression_no_if();      // leaves a following «if» to the caller
  ExpressionPtr filters_of_block();      // a | b(c), with or without a leading a |
  Arguments arguments();                 // after «(», with «)»
  std::vector<std::string> new_names();  // a, b: targets of for and set

  const Token& next() const { return tokens_[at_]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_name(std::string_view name) const { return next().is(Token::Kind::Name, name); }
  bool is_operator(std::string_view text) const { return next().is(Token::Kind::Operator, text); }
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view text);
  void expect_operator(std::string_view text);
  void expect(Token::Kind kind, std::string_view what);
  std::string expect_name();
  [[noreturn]] void fail(std::string_view what) const;

  // Counts the nesting depth of the parser while it lives: a template of many brackets must not
  // overflow the stack.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser);
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

 private:
  using Level = ExpressionPtr (ExpressionParser::*)();

  ExpressionPtr make(Expression::Kind kind, std::string text = "") const;
  // Adds `part`, which may be null, to `parent`; rejects trees that are too deep to traverse.
  void adopt(Expression& parent, ExpressionPtr part) const;
  void adopt(Expression& parent, Arguments arguments) const;
  ExpressionPtr join(Expression::Kind kind, std::string text, ExpressionPtr a,
                     ExpressionPtr b) const;
  ExpressionPtr binary(Level below, std::initializer_list<std::string_view> operators);
  ExpressionPtr or_level();
  ExpressionPtr and_level();
  ExpressionPtr not_level();
  ExpressionPtr compare_level();
  ExpressionPtr sum_level();
  ExpressionPtr concat_level();
  ExpressionPtr term_level();
  ExpressionPtr power_level();
  ExpressionPtr unary_level() { return unary(true); }
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr literal(Value value);
  ExpressionPtr list_literal();
  ExpressionPtr dict_literal();
  ExpressionPtr postfix(ExpressionPtr object);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr filters(ExpressionPtr object);
  ExpressionPtr test(ExpressionPtr object);
  bool test_has_bare_argument() const;

  std::vector<Token> tokens_;
  std::string_view origin_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace ingot::chat
