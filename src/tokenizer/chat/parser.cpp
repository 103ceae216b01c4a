// The statements of chat templates: syntax.h's parse().
#include <fmt/format.h>

#include "core/error/error.h"
#include "tokenizer/chat/expression_parser.h"
#include "tokenizer/chat/syntax.h"

namespace ingot::chat {
namespace {

class Parser {
 public:
  Parser(std::string_view source, std::string_view origin, Spaces spaces)
      : in_(lex(source, origin, spaces), origin) {}

  std::vector<Node> whole() {
    std::vector<Node> nodes = body({});
    if (in_.next().kind != Token::Kind::End) in_.fail("nothing here to end");
    return nodes;
  }

 private:
  using Ends = std::initializer_list<std::string_view>;

  // Up to a tag named by `ends`, whose name is taken; its rest is the caller's.
  std::vector<Node> body(Ends ends) {
    const ExpressionParser::Nesting nesting(in_);
    std::vector<Node> nodes;
    while (in_.next().kind != Token::Kind::End) {
      Node node{Node::Kind::Text};
      node.line = in_.next().line;
      if (in_.next().kind == Token::Kind::Text) {
        node.text = in_.take().text;
      } else if (in_.next().kind == Token::Kind::PrintBegin) {
        in_.take();
        node.kind = Node::Kind::Print;
        node.value = in_.tuple();
        in_.expect(Token::Kind::PrintEnd, "«}}»");
      } else {
        in_.expect(Token::Kind::TagBegin, "a tag");
        const std::string name = in_.expect_name();
        for (const std::string_view end : ends) {
          if (name != end) continue;
          ended_by_ = name;
          return nodes;
        }
        statement(name, node);
      }
      nodes.push_back(std::move(node));
    }
    if (ends.size() > 0) in_.fail(fmt::format("expected {{% {} %}}", *(ends.end() - 1)));
    return nodes;
  }

  void end_tag() { in_.expect(Token::Kind::TagEnd, "«%}»"); }

  void statement(const std::string& name, Node& node) {
    if (name == "if") {
      parse_if(node);
    } else if (name == "for") {
      parse_for(node);
    } else if (name == "set") {
      parse_set(node);
    } else if (name == "macro") {
      parse_macro(node);
    } else if (name == "filter") {
      parse_filter(node);
    } else if (name == "with") {
      parse_with(node);
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) in_.fail(fmt::format("{} outside of a loop", name));
      node.kind = name == "break" ? Node::Kind::Break : Node::Kind::Continue;
      end_tag();
    } else if (name == "generation") {  // marks what is trained on; it prints as it stands
      node.kind = Node::Kind::Body;
      end_tag();
      node.body = body({"endgeneration"});
      end_tag();
    } else {
      in_.fail(
          fmt::format("the tag «{}» is not supported: expected if, for, set, macro, filter, "
                      "with, break, continue or generation",
                      name));
    }
  }

  void parse_if(Node& node) {
    node.kind = Node::Kind::If;
    node.value = in_.tuple();
    end_tag();
    node.body = body({"elif", "else", "endif"});
    if (ended_by_ == "elif") {
      Node inner{Node::Kind::If};
      inner.line = in_.next().line;
      const ExpressionParser::Nesting nesting(in_);
      parse_if(inner);
      node.otherwise.push_back(std::move(inner));
      return;
    }
    end_tag();
    if (ended_by_ == "else") {
      node.otherwise = body({"endif"});
      end_tag();
    }
  }

  void parse_for(Node& node) {
    node.kind = Node::Kind::For;
    node.names = in_.new_names();
    if (!in_.skip_name("in")) in_.fail("expected «in»");
    node.value = in_.expression_no_if();
    if (in_.skip_name("if")) node.condition = in_.expression();
    if (in_.is_name("recursive")) in_.fail("recursive loops are not supported");
    end_tag();
    ++loops_;
    node.body = body({"else", "endfor"});
    --loops_;
    end_tag();
    if (ended_by_ == "else") {
      node.otherwise = body({"endfor"});
      end_tag();
    }
  }

  void parse_set(Node& node) {
    node.names = in_.new_names();
    if (in_.skip_operator(".")) {
      node.object = node.names[0];
      node.text = in_.expect_name();
    }
    if (in_.skip_operator("=")) {
      node.kind = Node::Kind::Set;
      node.value = in_.tuple();
      end_tag();
      return;
    }
    if (node.names.size() != 1 || !node.object.empty()) in_.fail("expected «=»");
    node.kind = Node::Kind::SetBlock;
    if (in_.is_operator("|")) node.value = in_.filters_of_block();
    end_tag();
    node.body = body({"endset"});
    end_tag();
  }

  void parse_filter(Node& node) {
    node.kind = Node::Kind::FilterBlock;
    node.value = in_.filters_of_block();
    end_tag();
    node.body = body({"endfilter"});
    end_tag();
  }

  void parse_with(Node& node) {
    node.kind = Node::Kind::With;
    while (in_.next().kind != Token::Kind::TagEnd) {
      if (!node.names.empty()) in_.expect_operator(",");
      node.names.push_back(in_.expect_name());
      in_.expect_operator("=");
      node.defaults.push_back(in_.expression());
    }
    end_tag();
    node.body = body({"endwith"});
    end_tag();
  }

  void parse_macro(Node& node) {
    node.kind = Node::Kind::Macro;
    node.text = in_.expect_name();
    in_.expect_operator("(");
    while (!in_.skip_operator(")")) {
      if (!node.names.empty()) in_.expect_operator(",");
      node.names.push_back(in_.expect_name());
      node.defaults.push_back(in_.skip_operator("=") ? in_.expression() : nullptr);
    }
    end_tag();
    const int loops = std::exchange(loops_, 0);
    node.body = body({"endmacro"});
    loops_ = loops;
    end_tag();
  }

  ExpressionParser in_;
  std::string ended_by_;
  int loops_ = 0;  // around where parsing is
};

}  // namespace

std::vector<Node> parse(std::string_view source, std::string_view origin, Spaces spaces) {
  return Parser(source, origin, spaces).whole();
}

}  // namespace ingot::chat
