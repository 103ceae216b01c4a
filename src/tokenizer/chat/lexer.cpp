#include "tokenizer/chat/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/chat/value.h"

namespace ingot::chat {
namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string with_plain_line_ends(std::string_view source, Spaces spaces) {
  std::string plain;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      plain += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
    } else {
      plain += source[i];
    }
  }
  if (spaces == Spaces::Trimmed && plain.ends_with('\n')) plain.pop_back();
  return plain;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view origin, Spaces spaces)
      : source_(with_plain_line_ends(source, spaces)), origin_(origin), spaces_(spaces) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) {
      const size_t open = std::min(next_opening(), source_.size());
      const size_t begin = at_;
      if (open == source_.size()) {
        add_text(source_.substr(begin));
        at_ = open;
        break;
      }
      const char kind = source_[open + 1];
      const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
      add_text(before_tag(std::string_view(source_).substr(begin, open - begin), kind, sign));
      at_ = open + 2;
      if (sign == '-' || sign == '+') ++at_;
      if (kind == '#') {
        skip_comment();
      } else if (kind == '%' && read_raw()) {
        continue;
      } else {
        lex_tag(kind);
      }
    }
    add(Token::Kind::End, "");
    return std::move(tokens_);
  }

 private:
  size_t next_opening() const {
    for (size_t at = at_; (at = source_.find('{', at)) < source_.size() - 1; ++at) {
      const char next = source_[at + 1];
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return std::string::npos;
  }

  // What is left of the text before a tag.
  std::string_view before_tag(std::string_view text, char kind, char sign) const {
    if (sign == '-') {
      while (!text.empty()) {
        size_t size = 1;
        while (size < text.size() && text::is_continuation(text[text.size() - size])) ++size;
        if (!is_python_space(text.substr(text.size() - size))) break;
        text.remove_suffix(size);
      }
      return text;
    }
    if (kind == '{' || sign == '+' || spaces_ == Spaces::Kept) return text;
    const size_t line = text.rfind('\n') + 1;  // 0: the text begins inside a line, or with one
    if (line == 0 && !line_starts_) return text;
    for (const std::string_view character : characters_of(text.substr(line))) {
      if (!is_python_space(character)) return text;
    }
    return text.substr(0, line);
  }

  void add_text(std::string_view text) {
    if (!text.empty()) tokens_.push_back({Token::Kind::Text, std::string(text), line_at(at_)});
  }
  void add(Token::Kind kind, std::string_view text) {
    tokens_.push_back({kind, std::string(text), line_at(at_)});
  }

  // After the closing of a tag: a minus takes all spaces, a tag or comment its line's end.
  void end_tag(bool minus, bool takes_line_end) {
    const size_t begin = at_;
    if (minus) {
      const std::string_view rest = std::string_view(source_).substr(at_);
      at_ = source_.size() - stripped(rest, nullptr, true, false).size();
    } else if (takes_line_end && spaces_ == Spaces::Trimmed && at_ < source_.size() &&
               source_[at_] == '\n') {
      ++at_;
    }
    line_starts_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  void skip_comment() {
    const size_t close = source_.find("#}", at_);
    if (close == std::string::npos) fail("a comment that does not end");
    const char sign = close > at_ ? source_[close - 1] : '\0';
    at_ = close + 2;
    end_tag(sign == '-', sign != '+');
  }

  // {% raw %} … {% endraw %}, when that is what stands here.
  bool read_raw() {
    size_t close = 0;
    if (!is_tag_of(at_, "raw", close)) return false;
    at_ = close + 2;
    end_tag(source_[close - 1] == '-', false);
    for (size_t open = source_.find("{%", at_); open != std::string::npos;
         open = source_.find("{%", open + 1)) {
      const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
      const size_t name = open + 2 + (sign == '-' || sign == '+' ? 1 : 0);
      if (!is_tag_of(name, "endraw", close)) continue;
      add_text(before_tag(std::string_view(source_).substr(at_, open - at_), '%', sign));
      at_ = close + 2;
      end_tag(source_[close - 1] == '-', source_[close - 1] != '+');
      return true;
    }
    fail("{% raw %} without {% endraw %}");
  }

  bool is_tag_of(size_t at, std::string_view name, size_t& close) const {
    at = source_.find_first_not_of(" \n\t", at);
    if (at == std::string::npos || source_.compare(at, name.size(), name) != 0) return false;
    close = source_.find("%}", at);
    if (close == std::string::npos) return false;
    const std::string between = source_.substr(at + name.size(), close - at - name.size());
    return between.find_first_not_of(" \n\t-+") == std::string::npos;
  }

  void lex_tag(char kind) {
    const bool prints = kind == '{';
    add(prints ? Token::Kind::PrintBegin : Token::Kind::TagBegin, "");
    const std::string_view closing = prints ? "}}" : "%}";
    size_t open_brackets = 0;
    while (true) {
      at_ = std::min(source_.find_first_not_of(" \n\t\f\v", at_), source_.size());
      if (at_ == source_.size()) fail("a tag that does not end");
      const std::string_view rest = std::string_view(source_).substr(at_);
      const bool signed_end =
          (rest[0] == '-' || (rest[0] == '+' && !prints)) && rest.substr(1).starts_with(closing);
      if (open_brackets == 0 && (signed_end || rest.starts_with(closing))) {
        add(prints ? Token::Kind::PrintEnd : Token::Kind::TagEnd, "");
        at_ += closing.size() + (signed_end ? 1 : 0);
        end_tag(signed_end && rest[0] == '-', !prints && !signed_end);
        return;
      }
      const char c = rest[0];
      if (c == '(' || c == '[' || c == '{') ++open_brackets;
      if ((c == ')' || c == ']' || c == '}') && open_brackets > 0) --open_brackets;
      lex_one(rest);
    }
  }

  void lex_one(std::string_view rest) {
    if (is_name_start(rest[0])) {
      const auto end = std::find_if(rest.begin(), rest.end(),
                                    [](char c) { return !is_name_start(c) && !is_digit(c); });
      take(Token::Kind::Name, static_cast<size_t>(end - rest.begin()));
    } else if (is_digit(rest[0])) {
      lex_number(rest);
    } else if (rest[0] == '"' || rest[0] == '\'') {
      lex_string(rest);
    } else {
      for (const std::string_view two : {"==", "!=", "<=", ">=", "//", "**"}) {
        if (rest.starts_with(two)) return take(Token::Kind::Operator, 2);
      }
      if (std::string_view("+-*/%~<>=()[]{},.:|").find(rest[0]) == std::string_view::npos) {
        fail(fmt::format("the character «{}»", characters_of(rest.substr(0, 4))[0]));
      }
      take(Token::Kind::Operator, 1);
    }
  }

  void lex_number(std::string_view rest) {
    const auto digits = [&](size_t from) {
      while (from < rest.size() && is_digit(rest[from])) ++from;
      return from;
    };
    size_t end = digits(0);
    bool is_float = false;
    if (end + 1 < rest.size() && rest[end] == '.' && is_digit(rest[end + 1])) {
      end = digits(end + 1);
      is_float = true;
    }
    if (end + 1 < rest.size() && (rest[end] | 0x20) == 'e') {
      const size_t sign = rest[end + 1] == '+' || rest[end + 1] == '-' ? 2 : 1;
      if (end + sign < rest.size() && is_digit(rest[end + sign])) {
        end = digits(end + sign);
        is_float = true;
      }
    }
    take(is_float ? Token::Kind::Float : Token::Kind::Integer, end);
  }

  void lex_string(std::string_view rest) {
    std::string text;
    size_t i = 1;
    for (; i < rest.size() && rest[i] != rest[0]; ++i) {
      if (rest[i] != '\\' || i + 1 == rest.size()) {
        text += rest[i];
        continue;
      }
      ++i;
      constexpr std::string_view kNames = "nrtabfv0\\'\"", kMeanings("\n\r\t\a\b\f\v\0\\'\"", 11);
      if (const size_t name = kNames.find(rest[i]); name != std::string_view::npos) {
        text += kMeanings[name];
      } else if (const size_t digits = digits_of_escape(rest[i]); digits > 0) {
        append_code_point(rest.substr(i + 1, digits), digits, text);
        i += digits;
      } else if (rest[i] != '\n') {
        text += '\\';
        text += rest[i];
      }
    }
    if (i == rest.size()) fail("a string that does not end");
    add(Token::Kind::String, text);
    at_ += i + 1;
  }

  static size_t digits_of_escape(char name) {
    return name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
  }

  void append_code_point(std::string_view hex, size_t digits, std::string& text) const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    uint32_t code = 0;
    for (const char c : hex) {
      const size_t digit = kDigits.find(is_digit(c) ? c : static_cast<char>(c | 0x20));
      if (digit == std::string_view::npos) fail("an escape with a digit that is none");
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    const bool is_character =
        hex.size() == digits && (code < 0xD800 || code > 0xDFFF) && code < 0x110000;
    if (!is_character) fail("an escape that is no character");
    text::append_character(text, code);
  }

  void take(Token::Kind kind, size_t size) {
    add(kind, std::string_view(source_).substr(at_, size));
    at_ += size;
  }

  // Called with increasing positions, so counting resumes from the last one.
  int line_at(size_t at) {
    for (; counted_ < std::min(at, source_.size()); ++counted_) {
      line_ += source_[counted_] == '\n' ? 1 : 0;
    }
    return line_;
  }

  [[noreturn]] void fail(std::string_view what) const {
    const auto line =
        1 + std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Error(ErrorCode::Data,
                fmt::format("{}, line {} of the chat template: {}", origin_, line, what));
  }

  const std::string source_;
  std::string_view origin_;
  Spaces spaces_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool line_starts_ = true;  // what comes next is at the beginning of a line
  size_t counted_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Token> lex(std::string_view source, std::string_view origin, Spaces spaces) {
  return Lexer(source, origin, spaces).run();
}

}  // namespace ingot::chat
