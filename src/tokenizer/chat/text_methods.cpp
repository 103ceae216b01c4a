#include "tokenizer/chat/text_methods.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "core/error/error.h"
#include "tokenizer/chat/builtins.h"
#include "tokenizer/chat/text_case.h"

namespace ingot::chat {
namespace {

MarkedText replaced(const MarkedText& object, const std::string& from, const MarkedText& to,
                    int64_t count, size_t most_bytes) {
  MarkedText out;
  const std::string_view text = object.text;
  size_t at = 0;
  if (from.empty()) {  // before each character and at the end
    for (const std::string_view character : characters_of(text)) {
      if (count-- != 0) out.append(to);
      out.append(object, at, at + character.size());
      at += character.size();
      check_size(out.text.size(), most_bytes);
    }
    if (count != 0) out.append(to);
    return out;
  }
  while (count-- != 0) {
    const size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out.append(object, at, found);
    out.append(to);
    at = found + from.size();
    check_size(out.text.size(), most_bytes);
  }
  out.append(object, at, text.size());
  return out;
}

// Texts that lie in `object` in their order, with `gap` bytes or spaces alone between them.
List parts_of(const MarkedText& object, const List& parts, size_t gap) {
  List marked;
  size_t at = 0;
  for (const Value& part : parts) {
    const std::string& text = *part.as_text();
    if (gap == 0) at = object.text.find(text, at);
    marked.push_back(Value::text(object.part(at, at + text.size())));
    at += text.size() + gap;
  }
  return marked;
}

// Words; what is left after `most` cuts is one, with the spaces in it.
List split_at_spaces(std::string_view text, int64_t most, bool from_end) {
  auto characters = characters_of(text);
  if (from_end) std::reverse(characters.begin(), characters.end());
  size_t at = 0, bytes = 0;  // characters passed, from the side that it begins on
  const auto pass = [&](bool spaces) {
    while (at < characters.size() && is_python_space(characters[at]) == spaces)
      bytes += characters[at++].size();
  };
  List parts;
  for (;;) {
    pass(true);
    if (at == characters.size()) break;
    const size_t begin = bytes;
    if (most-- == 0) {
      at = characters.size();
      bytes = text.size();
    } else {
      pass(false);
    }
    const size_t first = from_end ? text.size() - bytes : begin;
    parts.push_back(Value::text(text.substr(first, bytes - begin)));
  }
  if (from_end) std::reverse(parts.begin(), parts.end());
  return parts;
}

List split(std::string_view text, const CallArguments& arguments, bool from_end) {
  const Value* separator = arguments.get(0, "sep");
  const Value* most = arguments.get(1, "maxsplit");
  int64_t left = most == nullptr ? -1 : integer_of(*most, "split");
  if (separator == nullptr || separator->is_none()) return split_at_spaces(text, left, from_end);
  const std::string& between = text_of(*separator, "split");
  check(!between.empty(), ErrorCode::Data, "split: expected a separator, got an empty one");
  List parts;
  while (left-- != 0) {
    const size_t found = from_end ? text.rfind(between) : text.find(between);
    if (found == std::string_view::npos) break;
    const std::string_view before = text.substr(0, found);
    const std::string_view after = text.substr(found + between.size());
    parts.push_back(Value::text(from_end ? after : before));
    text = from_end ? before : after;
  }
  parts.push_back(Value::text(text));
  if (from_end) std::reverse(parts.begin(), parts.end());
  return parts;
}

// One string, or any of a list of them.
bool is_at_end(const Value& what, const std::function<bool(const std::string&)>& holds) {
  if (what.as_list() == nullptr) return holds(text_of(what, "startswith or endswith"));
  return std::any_of(what.as_list()->begin(), what.as_list()->end(), [&](const Value& item) {
    return holds(text_of(item, "startswith or endswith"));
  });
}

Value partition(const MarkedText& object, const std::string& between, bool from_end) {
  const std::string& text = object.text;
  check(!between.empty(), ErrorCode::Data, "partition: expected a separator, got an empty one");
  const size_t at = from_end ? text.rfind(between) : text.find(between);
  const auto cut = [&](size_t a, size_t b) {
    return Value::tuple({Value::text(object.part(0, a)), Value::text(object.part(a, b)),
                         Value::text(object.part(b, text.size()))});
  };
  if (at == std::string::npos) return from_end ? cut(0, 0) : cut(text.size(), text.size());
  return cut(at, at + between.size());
}

// ljust, rjust, center and zfill.
std::string padded(const std::string& text, std::string_view name, const CallArguments& arguments,
                   size_t most_bytes) {
  const int64_t width = integer_of(needed(arguments, 0, "width", name), name);
  const Value* fill = arguments.get(1, "fillchar");
  const std::string with = name == "zfill" ? "0" : fill == nullptr ? " " : text_of(*fill, name);
  check(characters_of(with).size() == 1, ErrorCode::Data, "{}: expected one character to fill with",
        name);
  const auto size = static_cast<int64_t>(characters_of(text).size());
  if (width <= size) return text;
  check_size(static_cast<size_t>(width) * with.size() + text.size(), most_bytes);
  const int64_t missing = width - size;
  // Where the sides cannot be equal, Python's choice.
  const int64_t left = name == "ljust"    ? 0
                       : name == "center" ? missing / 2 + (missing & width & 1)
                                          : missing;
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += with;
  const bool has_sign = name == "zfill" && (text.starts_with('-') || text.starts_with('+'));
  out = has_sign ? text.substr(0, 1) + out + text.substr(1) : out + text;
  for (int64_t i = left; i < missing; ++i) out += with;
  return out;
}

// «'{} {0} {name}'.format(…)», without formats of their own.
std::string formatted(std::string_view format, const CallArguments& arguments, size_t most_bytes) {
  std::string out;
  size_t next = 0;
  for (size_t at = 0; at < format.size();) {
    const std::string_view rest = format.substr(at);
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      out += rest[0];
      at += 2;
      continue;
    }
    check(rest[0] != '}', ErrorCode::Data, "format: a «}}» without «{{»");
    if (rest[0] != '{') {
      out += rest[0];
      ++at;
      continue;
    }
    const size_t end = rest.find('}');
    check(end != std::string_view::npos, ErrorCode::Data, "format: a «{{» without «}}»");
    const std::string_view name = rest.substr(1, end - 1);
    check(name.find_first_of(":!.[{") == std::string_view::npos, ErrorCode::Data,
          "format: «{{{}}}» is not supported: expected {{}}, {{0}} or {{name}}", name);
    size_t place = name.empty() ? next++ : SIZE_MAX;
    std::from_chars(name.data(), name.data() + name.size(), place);
    out += needed(arguments, place, name, "format").str();
    check_size(out.size(), most_bytes);
    at += end + 1;
  }
  return out;
}

}  // namespace

List split_lines(std::string_view text, bool keep_ends) {
  constexpr std::string_view kEnds[] = {"\r\n",     "\n",           "\r",          "\v",
                                        "\f",       "\x1C",         "\x1D",        "\x1E",
                                        "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
  List lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const auto* const end = std::find_if(std::begin(kEnds), std::end(kEnds), [&](auto one) {
      return text.substr(at).starts_with(one);
    });
    if (end == std::end(kEnds)) {
      ++at;
      continue;
    }
    lines.push_back(Value::text(text.substr(begin, at - begin + (keep_ends ? end->size() : 0))));
    begin = at += end->size();
  }
  if (begin < text.size()) lines.push_back(Value::text(text.substr(begin)));
  return lines;
}

MarkedText joined(const List& items, const MarkedText& between, const Value* attribute,
                  size_t most_bytes) {
  MarkedText out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(between);
    const Value* item = attribute == nullptr ? &items[i] : items[i].find(attribute->str());
    if (item != nullptr) out.append(item->marked());
    check_size(out.text.size(), most_bytes);
  }
  return out;
}

bool is_text_method(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "strip",      "lstrip",   "rstrip",  "upper",        "lower",        "title",
      "capitalize", "swapcase", "split",   "rsplit",       "splitlines",   "join",
      "endswith",   "replace",  "find",    "rfind",        "index",        "count",
      "startswith", "format",   "ljust",   "removeprefix", "removesuffix", "partition",
      "rpartition", "rjust",    "center",  "zfill",        "isalpha",      "isdigit",
      "isdecimal",  "isalnum",  "isspace", "isnumeric",    "isupper",      "islower",
      "isascii"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value call_text_method(const MarkedText& object, std::string_view name,
                       const CallArguments& arguments, size_t most_bytes) {
  const std::string& text = object.text;
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Value* set = arguments.get(0, "chars");
    const bool by_set = set != nullptr && !set->is_none();
    const std::string* characters = by_set ? &text_of(*set, name) : nullptr;
    const std::string_view left = stripped(text, characters, name != "rstrip", name != "lstrip");
    const auto begin = static_cast<size_t>(left.data() - text.data());
    return Value::text(object.part(begin, begin + left.size()));
  }
  if (name == "upper") return Value::text(upper(text));
  if (name == "lower") return Value::text(lower(text));
  if (name == "title") return Value::text(title(text));
  if (name == "capitalize") return Value::text(capitalized(text));
  if (name == "swapcase") return Value::text(swapped_case(text));
  if (name.starts_with("is")) return Value::Data(has_only(text, name));
  if (name == "split" || name == "rsplit") {
    const Value* separator = arguments.get(0, "sep");
    const bool by_text = separator != nullptr && !separator->is_none();
    return Value::list(parts_of(object, split(text, arguments, name == "rsplit"),
                                by_text ? text_of(*separator, name).size() : 0));
  }
  if (name == "splitlines") {
    return Value::list(parts_of(object, split_lines(text, arguments.is_true(0, "keepends")), 0));
  }
  if (name == "format") return Value::text(formatted(text, arguments, most_bytes));
  if (name == "ljust" || name == "rjust" || name == "center" || name == "zfill") {
    return Value::text(padded(text, name, arguments, most_bytes));
  }
  if (name == "join") {
    const List items = items_of(needed(arguments, 0, "iterable", name));
    for (const Value& item : items) text_of(item, name);
    return Value::text(joined(items, object, nullptr, most_bytes));
  }
  const Value& first = needed(arguments, 0, "a string", name);
  if (name == "startswith" || name == "endswith") {
    check(arguments.positional.size() == 1, ErrorCode::Data, "{}: places are not supported", name);
    return Value::Data(is_at_end(first, [&](const auto& part) {
      return name == "startswith" ? text.starts_with(part) : text.ends_with(part);
    }));
  }
  if (name == "partition" || name == "rpartition") {
    return partition(object, text_of(first, name), name == "rpartition");
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const std::string& part = text_of(first, name);
    if (name == "removeprefix" && text.starts_with(part)) {
      return Value::text(object.part(part.size(), text.size()));
    }
    const bool ends = name == "removesuffix" && text.ends_with(part);
    return Value::text(object.part(0, text.size() - (ends ? part.size() : 0)));
  }
  if (name == "replace") {
    const Value* count = arguments.get(2, "count");
    const Value& to = needed(arguments, 1, "new", name);
    text_of(to, name);
    return Value::text(replaced(object, text_of(first, name), to.marked(),
                                count == nullptr ? -1 : integer_of(*count, name), most_bytes));
  }
  check(arguments.positional.size() == 1, ErrorCode::Data, "{}: places are not supported", name);
  const std::string& part = text_of(first, name);
  const size_t found = name == "rfind" ? text.rfind(part) : text.find(part);
  if (name == "count") {
    if (part.empty()) return Value::integer(characters_of(text).size() + 1);
    int64_t count = 0;
    for (size_t at = found; at != std::string::npos; at = text.find(part, at + part.size())) {
      ++count;
    }
    return Value::Data(count);
  }
  check(found != std::string::npos || name != "index", ErrorCode::Data,
        "index: the string is not there");
  return Value::Data(found == std::string::npos
                         ? int64_t{-1}
                         : static_cast<int64_t>(characters_of(text.substr(0, found)).size()));
}

}  // namespace ingot::chat
