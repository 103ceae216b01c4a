#include "core/json/json_member.h"

namespace ingot {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

// Walks over a JSON text. Of one that is none it stops somewhere inside.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Goes to the value of the member `key` of the object or list that begins here; returns where the
  // member begins. Nothing where there is none.
  std::optional<size_t> enter(std::string_view key) {
    skip_spaces();
    const bool is_object = next() == '{';
    if (!is_object && next() != '[') return std::nullopt;
    ++at_;
    for (size_t place = 0;; ++place) {
      skip_spaces();
      const size_t begin = at_;
      if (begin >= text_.size() || next() == '}' || next() == ']') return std::nullopt;
      bool found = std::to_string(place) == key;
      if (is_object) {
        found = string() == key;
        skip_spaces();
        ++at_;  // the colon
      }
      if (found) return begin;
      skip_value();
      if (next() != ',') return std::nullopt;
      ++at_;
    }
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size()); }

  // As it is spelt, without its quotes.
  std::string_view string() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && next() != '"') at_ += next() == '\\' ? 2 : 1;
    const size_t end = std::min(at_, text_.size());
    at_ = end + 1;
    return begin < end ? text_.substr(begin, end - begin) : std::string_view();
  }

  // Stops at the comma or the bracket that follows it.
  void skip_value() {
    for (int depth = 0; at_ < text_.size(); ++at_) {
      const char c = next();
      if (c == '"') {
        string();
        --at_;
      } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
        return;
      } else {
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<int64_t> line_of_member(std::string_view json, std::span<const std::string> member) {
  Scanner scanner(json);
  std::optional<size_t> found;
  for (const std::string& key : member) {
    const std::optional<size_t> begin = scanner.enter(key);
    if (!begin) break;
    found = begin;
  }
  if (!found) return std::nullopt;
  const std::string_view before = json.substr(0, *found);
  return 1 + std::count(before.begin(), before.end(), '\n');
}

std::string located(std::string_view file, std::string_view json, const Error& error) {
  const auto* of_member = dynamic_cast<const MemberError*>(&error);
  const auto line = of_member ? line_of_member(json, of_member->member()) : std::nullopt;
  return line ? fmt::format("{}, line {}: {}", file, *line, error.what())
              : fmt::format("{}: {}", file, error.what());
}

}  // namespace ingot
