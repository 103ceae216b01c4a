#include "tokenizer/chat/builtins.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/error.h"

namespace ingot::chat {
namespace {

const std::string& text_of(const Value& value, std::string_view who) {
  check(value.as_text() != nullptr, ErrorCode::Data, "{}: expected a string, got {}", who,
        kind_of(value));
  return *value.as_text();
}

int64_t integer_of(const Value& value, std::string_view who) {
  if (const bool* truth = value.as_bool()) return *truth ? 1 : 0;
  check(value.as_integer() != nullptr, ErrorCode::Data, "{}: expected an integer, got {}", who,
        kind_of(value));
  return *value.as_integer();
}

void check_size(size_t bytes, size_t most_bytes) {
  check(bytes <= most_bytes, ErrorCode::Data, "the chat template makes texts that are too long");
}

enum class Case { Lower, Upper };

std::string in_case(std::string_view text, Case wanted) {
  std::string out;
  for (const std::string_view character : characters_of(text)) {
    utf8proc_int32_t code = -1;
    utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                     static_cast<utf8proc_ssize_t>(character.size()), &code);
    if (code < 0) {
      out += character;
      continue;
    }
    code = wanted == Case::Lower ? utf8proc_tolower(code) : utf8proc_toupper(code);
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t size = utf8proc_encode_char(code, bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  return out;
}

// The first character of each part upper, the rest lower; parts begin after what `is_break` says.
std::string titled(std::string_view text, const std::function<bool(std::string_view)>& is_break) {
  std::string out;
  bool begins = true;
  for (const std::string_view character : characters_of(text)) {
    out += in_case(character, begins ? Case::Upper : Case::Lower);
    begins = is_break(character);
  }
  return out;
}

bool is_cased_letter(std::string_view character) {
  return in_case(character, Case::Upper) != in_case(character, Case::Lower);
}

std::string title(std::string_view text) {  // Python's
  return titled(text, [](std::string_view c) { return !is_cased_letter(c); });
}

std::string jinja_title(std::string_view text) {  // words begin after spaces, - and brackets
  return titled(text, [](std::string_view c) {
    return is_python_space(c) || std::string_view("-({[<").find(c) != std::string_view::npos;
  });
}

std::string capitalized(std::string_view text) {
  return titled(text, [](std::string_view) { return false; });
}

std::string replaced(std::string_view text, const std::string& from, const std::string& to,
                     int64_t count, size_t most_bytes) {
  std::string out;
  const auto characters = characters_of(text);
  size_t at = 0;
  if (from.empty()) {  // before each character and at the end
    for (const std::string_view character : characters) {
      if (count-- != 0) out += to;
      out += character;
      check_size(out.size(), most_bytes);
    }
    return count != 0 ? out + to : out;
  }
  while (count-- != 0) {
    const size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
    check_size(out.size(), most_bytes);
  }
  return out.append(text.substr(at));
}

List split_at_spaces(std::string_view text, int64_t most) {
  List parts;
  std::string rest = stripped(text, nullptr, true, false);
  while (!rest.empty()) {
    size_t end = 0;
    if (most-- == 0) {
      parts.push_back(Value::text(rest));
      break;
    }
    for (const std::string_view character : characters_of(rest)) {
      if (is_python_space(character)) break;
      end += character.size();
    }
    parts.push_back(Value::text(rest.substr(0, end)));
    rest = stripped(std::string_view(rest).substr(end), nullptr, true, false);
  }
  return parts;
}

List split(std::string_view text, const CallArguments& arguments) {
  const Value* separator = arguments.get(0, "sep");
  const Value* most = arguments.get(1, "maxsplit");
  int64_t left = most == nullptr ? -1 : integer_of(*most, "split");
  if (separator == nullptr || separator->is_none()) return split_at_spaces(text, left);
  const std::string& between = text_of(*separator, "split");
  check(!between.empty(), ErrorCode::Data, "split: expected a separator, got an empty one");
  List parts;
  for (size_t found; left-- != 0 && (found = text.find(between)) != std::string_view::npos;) {
    parts.push_back(Value::text(text.substr(0, found)));
    text.remove_prefix(found + between.size());
  }
  parts.push_back(Value::text(text));
  return parts;
}

// One string, or any of a list of them.
bool is_at_end(const Value& what, const std::function<bool(const std::string&)>& holds) {
  if (what.as_list() == nullptr) return holds(text_of(what, "startswith or endswith"));
  return std::any_of(what.as_list()->begin(), what.as_list()->end(), [&](const Value& item) {
    return holds(text_of(item, "startswith or endswith"));
  });
}

std::string joined(const List& items, std::string_view between, const Value* attribute,
                   size_t most_bytes) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += between;
    const Value* item = attribute == nullptr ? &items[i] : items[i].find(attribute->str());
    if (item != nullptr) out += item->str();
    check_size(out.size(), most_bytes);
  }
  return out;
}

const Value& needed(const CallArguments& arguments, size_t place, std::string_view name,
                    std::string_view who) {
  const Value* value = arguments.get(place, name);
  check(value != nullptr, ErrorCode::Data, "{}: expected an argument «{}»", who, name);
  return *value;
}

Value call_text_method(const std::string& text, std::string_view name,
                       const CallArguments& arguments, size_t most_bytes) {
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Value* set = arguments.get(0, "chars");
    const bool by_set = set != nullptr && !set->is_none();
    return Value::text(stripped(text, by_set ? &text_of(*set, name) : nullptr, name != "rstrip",
                                name != "lstrip"));
  }
  if (name == "upper") return Value::text(in_case(text, Case::Upper));
  if (name == "lower") return Value::text(in_case(text, Case::Lower));
  if (name == "title") return Value::text(title(text));
  if (name == "capitalize") return Value::text(capitalized(text));
  if (name == "split") return Value::list(split(text, arguments));
  if (name == "splitlines") {
    List lines;
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
      lines.push_back(Value::text(rest.substr(0, end)));
      const size_t size = rest.substr(end).starts_with("\r\n") ? 2 : 1;
      rest.remove_prefix(std::min(end + size, rest.size()));
    }
    return Value::list(std::move(lines));
  }
  if (name == "join") {
    return Value::text(
        joined(items_of(needed(arguments, 0, "iterable", name)), text, nullptr, most_bytes));
  }
  const Value& first = needed(arguments, 0, "a string", name);
  if (name == "startswith") {
    return Value::Data(is_at_end(first, [&](const auto& part) { return text.starts_with(part); }));
  }
  if (name == "endswith") {
    return Value::Data(is_at_end(first, [&](const auto& part) { return text.ends_with(part); }));
  }
  if (name == "replace") {
    const Value* count = arguments.get(2, "count");
    return Value::text(replaced(text, text_of(first, name),
                                text_of(needed(arguments, 1, "new", name), name),
                                count == nullptr ? -1 : integer_of(*count, name), most_bytes));
  }
  const size_t found = name == "rfind" ? text.rfind(text_of(first, name))
                                       : text.find(text_of(first, name));  // find, count
  if (name == "count") {
    const std::string& part = text_of(first, name);
    check(!part.empty(), ErrorCode::Data, "count: expected a string, got an empty one");
    int64_t count = 0;
    for (size_t at = found; at != std::string::npos; at = text.find(part, at + part.size())) {
      ++count;
    }
    return Value::Data(count);
  }
  return Value::Data(found == std::string::npos
                         ? int64_t{-1}
                         : static_cast<int64_t>(characters_of(text.substr(0, found)).size()));
}

// Whether an item's attribute, or the item itself, passes a test that the arguments from `first` on
// name; without one, whether it is true.
bool passes(const Value& value, const CallArguments& arguments, size_t first) {
  if (arguments.positional.size() <= first) return value.is_true();
  CallArguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                         arguments.positional.end());
  return apply_test(text_of(arguments.positional[first], "select"), value, rest);
}

// A path such as "function.name".
Value attribute_of(const Value& item, std::string_view path) {
  const Value* value = &item;
  while (value != nullptr && !path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    value = value->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return value == nullptr ? Value::undefined(path) : *value;
}

Value select(std::string_view name, const Value& value, const CallArguments& arguments) {
  const bool by_attribute = name.ends_with("attr"), wanted = name.starts_with("select");
  List kept;
  for (const Value& item : items_of(value)) {
    const bool passed =
        by_attribute
            ? passes(attribute_of(item, text_of(needed(arguments, 0, "attribute", name), name)),
                     arguments, 1)
            : passes(item, arguments, 0);
    if (passed == wanted) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value map(const Value& value, const CallArguments& arguments, size_t most_bytes) {
  List mapped;
  const Value* attribute = arguments.get(SIZE_MAX, "attribute");
  const Value* otherwise = arguments.get(SIZE_MAX, "default");
  for (const Value& item : items_of(value)) {
    if (attribute != nullptr) {
      Value found = attribute_of(item, text_of(*attribute, "map"));
      if (found.as_undefined() != nullptr && otherwise != nullptr) found = *otherwise;
      mapped.push_back(std::move(found));
      continue;
    }
    CallArguments rest;
    const Value& filter = needed(arguments, 0, "filter", "map");
    rest.positional.assign(arguments.positional.begin() + 1, arguments.positional.end());
    rest.named = arguments.named;
    mapped.push_back(apply_filter(text_of(filter, "map"), item, rest, most_bytes));
  }
  return Value::list(std::move(mapped));
}

Value to_integer(const Value& value, const CallArguments& arguments) {
  if (value.as_float() != nullptr) {
    const double truncated = std::trunc(*value.as_float());
    check(std::abs(truncated) < 9e18, ErrorCode::Data, "int: {} is too large", value.str());
    return Value::Data(static_cast<int64_t>(truncated));
  }
  if (value.is_number()) return Value::Data(integer_of(value, "int"));
  int64_t number = 0;
  if (value.as_text() != nullptr) {
    const std::string text = stripped(*value.as_text(), nullptr, true, true);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return Value::Data(number);
  }
  const Value* otherwise = arguments.get(0, "default");
  return otherwise == nullptr ? Value::Data(int64_t{0}) : *otherwise;
}

Value indented(const Value& value, const CallArguments& arguments, size_t most_bytes) {
  const Value* width = arguments.get(0, "width");
  std::string margin(4, ' ');
  if (width != nullptr && width->as_text() != nullptr) {
    margin = *width->as_text();
  } else if (width != nullptr) {
    const int64_t count = integer_of(*width, "indent");
    check(count >= 0 && count < 1000, ErrorCode::Data, "indent: {} is no width", count);
    margin.assign(static_cast<size_t>(count), ' ');
  }
  const auto is_set = [&](size_t place, std::string_view name) {
    const Value* flag = arguments.get(place, name);
    return flag != nullptr && flag->is_true();
  };
  std::string out = is_set(1, "first") ? margin : "";
  const std::string& text = text_of(value, "indent");
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '\n' || i + 1 == text.size()) continue;
    if (text[i + 1] != '\n' || is_set(2, "blank")) out += margin;
    check_size(out.size(), most_bytes);
  }
  return Value::text(out);
}

Value length_of(const Value& value) {
  if (const auto* text = value.as_text()) return Value::integer(characters_of(*text).size());
  return Value::integer(items_of(value).size());
}

Value item_pairs(const Dict& dict) {
  List pairs;
  for (const auto& [key, item] : dict) pairs.push_back(Value::tuple({Value::text(key), item}));
  return Value::list(std::move(pairs));
}

Value end_item(const Value& value, bool first) {
  const List items = items_of(value);
  if (items.empty()) return Value::undefined("an item of an empty list");
  return first ? items.front() : items.back();
}

}  // namespace

const Value* CallArguments::get(size_t place, std::string_view name) const {
  if (place < positional.size()) return &positional[place];
  for (const auto& [given, value] : named) {
    if (given == name) return &value;
  }
  return nullptr;
}

List items_of(const Value& value) {
  if (value.as_undefined() != nullptr) return {};
  if (const auto* list = value.as_list()) return *list;
  List items;
  if (const auto* dict = value.as_dict()) {
    for (const auto& [key, item] : *dict) items.push_back(Value::text(key));
    return items;
  }
  check(value.as_text() != nullptr, ErrorCode::Data, "expected a list, got {}", kind_of(value));
  for (const std::string_view character : characters_of(*value.as_text())) {
    items.push_back(Value::text(character));
  }
  return items;
}

bool contains(const Value& container, const Value& item) {
  if (const auto* text = container.as_text()) {
    return text->find(text_of(item, "in")) != std::string::npos;
  }
  if (container.as_dict() != nullptr) {
    return item.as_text() != nullptr && container.find(*item.as_text()) != nullptr;
  }
  const List items = items_of(container);
  return std::find(items.begin(), items.end(), item) != items.end();
}

bool is_less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  check(a.as_text() != nullptr && b.as_text() != nullptr, ErrorCode::Data,
        "cannot tell which is less, {} or {}", kind_of(a), kind_of(b));
  return *a.as_text() < *b.as_text();
}

Value apply_filter(std::string_view name, const Value& value, const CallArguments& arguments,
                   size_t most_bytes) {
  if (name == "trim") {
    const Value* set = arguments.get(0, "chars");
    return Value::text(
        stripped(value.str(), set == nullptr ? nullptr : &text_of(*set, name), true, true));
  }
  if (name == "tojson") {
    const Value* indent = arguments.get(0, "indent");
    const bool lines = indent != nullptr && !indent->is_none();
    const int64_t width = lines ? integer_of(*indent, name) : -1;
    check(width < 1000, ErrorCode::Data, "tojson: {} is no width", width);
    return Value::text(to_json(value, width));
  }
  if (name == "length" || name == "count") return length_of(value);
  if (name == "default" || name == "d") {
    const Value* also_false = arguments.get(1, "boolean");
    const bool replace = value.as_undefined() != nullptr ||
                         (also_false != nullptr && also_false->is_true() && !value.is_true());
    const Value* otherwise = arguments.get(0, "default_value");
    return !replace ? value : otherwise == nullptr ? Value::text("") : *otherwise;
  }
  if (name == "join") {
    const Value* between = arguments.get(0, "d");
    return Value::text(joined(items_of(value), between == nullptr ? "" : between->str(),
                              arguments.get(1, "attribute"), most_bytes));
  }
  if (name == "upper") return Value::text(in_case(value.str(), Case::Upper));
  if (name == "lower") return Value::text(in_case(value.str(), Case::Lower));
  if (name == "title") return Value::text(jinja_title(value.str()));
  if (name == "capitalize") return Value::text(capitalized(value.str()));
  if (name == "string") return Value::text(value.str());
  if (name == "safe") return value;
  if (name == "int") return to_integer(value, arguments);
  if (name == "abs" && value.is_number()) {
    if (value.as_float() != nullptr) return Value::Data(std::abs(value.number()));
    const int64_t number = integer_of(value, name);
    check(number != INT64_MIN, ErrorCode::Data, "abs: {} is too large", number);
    return Value::Data(std::abs(number));
  }
  if (name == "float" && value.is_number()) return Value::Data(value.number());
  if (name == "list") return Value::list(items_of(value));
  if (name == "first") return end_item(value, true);
  if (name == "last") return end_item(value, false);
  if (name == "reverse") {
    List items = items_of(value);
    std::reverse(items.begin(), items.end());
    return value.as_text() == nullptr ? Value::list(std::move(items))
                                      : Value::text(joined(items, "", nullptr, most_bytes));
  }
  if (name == "items" && value.as_dict() != nullptr) return item_pairs(*value.as_dict());
  if (name == "items" && value.as_undefined() != nullptr) return Value::list({});
  if (name == "dictsort" && value.as_dict() != nullptr) {
    Dict sorted = *value.as_dict();
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return in_case(a.first, Case::Lower) < in_case(b.first, Case::Lower);
    });
    return item_pairs(sorted);
  }
  if (name == "replace") return call_text_method(value.str(), name, arguments, most_bytes);
  if (name == "indent") return indented(value, arguments, most_bytes);
  if (name == "map") return map(value, arguments, most_bytes);
  if (name == "select" || name == "reject" || name == "selectattr" || name == "rejectattr") {
    return select(name, value, arguments);
  }
  throw Error(ErrorCode::Data,
              fmt::format("the filter «{}» of {} is not supported", name, kind_of(value)));
}

bool apply_test(std::string_view name, const Value& value, const CallArguments& arguments) {
  if (name == "defined") return value.as_undefined() == nullptr;
  if (name == "undefined") return value.as_undefined() != nullptr;
  if (name == "none") return value.is_none();
  if (name == "string") return value.as_text() != nullptr;
  if (name == "mapping") return value.as_dict() != nullptr;
  if (name == "boolean") return value.as_bool() != nullptr;
  if (name == "number") return value.is_number();
  if (name == "integer") return value.as_integer() != nullptr;
  if (name == "float") return value.as_float() != nullptr;
  if (name == "true") return value.as_bool() != nullptr && *value.as_bool();
  if (name == "false") return value.as_bool() != nullptr && !*value.as_bool();
  if (name == "callable") return value.as_function() != nullptr || value.as_macro() != nullptr;
  const bool has_items = value.as_text() != nullptr || value.as_list() != nullptr ||
                         (value.as_dict() != nullptr && !value.is_namespace());
  if (name == "sequence") return has_items || value.as_undefined() != nullptr;
  if (name == "iterable") return has_items || value.as_undefined() != nullptr;
  if (name == "odd") return integer_of(value, name) % 2 != 0;
  if (name == "even") return integer_of(value, name) % 2 == 0;
  if (name == "lower") return in_case(value.str(), Case::Lower) == value.str();
  if (name == "upper") return in_case(value.str(), Case::Upper) == value.str();
  const auto other = [&]() -> const Value& { return needed(arguments, 0, "other", name); };
  if (name == "equalto" || name == "eq" || name == "sameas") return value == other();
  if (name == "ne") return !(value == other());
  if (name == "in") return contains(other(), value);
  if (name == "lt" || name == "lessthan") return is_less(value, other());
  if (name == "gt" || name == "greaterthan") return is_less(other(), value);
  if (name == "le") return !is_less(other(), value);
  if (name == "ge") return !is_less(value, other());
  if (name == "divisibleby") {
    const int64_t divisor = integer_of(other(), name);
    check(divisor != 0 && divisor != -1, ErrorCode::Data, "divisibleby: {} is no divisor", divisor);
    return integer_of(value, name) % divisor == 0;
  }
  throw Error(ErrorCode::Data, fmt::format("the test «is {}» is not supported", name));
}

bool has_method(const Value& object, std::string_view name) {
  constexpr std::string_view kText[] = {
      "strip",      "lstrip", "rstrip",   "upper",   "lower", "title", "capitalize", "split",
      "splitlines", "join",   "endswith", "replace", "find",  "rfind", "count",      "startswith"};
  constexpr std::string_view kDict[] = {"items", "keys", "values", "get"};
  const auto is_in = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (object.as_text() != nullptr) return is_in(kText);
  return object.as_dict() != nullptr && !object.is_namespace() && is_in(kDict);
}

Value call_method(const Value& object, std::string_view name, const CallArguments& arguments,
                  size_t most_bytes) {
  if (const auto* text = object.as_text()) {
    return call_text_method(*text, name, arguments, most_bytes);
  }
  const Dict& dict = *object.as_dict();
  if (name == "items") return item_pairs(dict);
  if (name == "keys") return Value::list(items_of(object));
  if (name == "get") {
    const Value& key = needed(arguments, 0, "key", name);
    const Value* found = key.as_text() == nullptr ? nullptr : object.find(*key.as_text());
    if (found != nullptr) return *found;
    const Value* otherwise = arguments.get(1, "default");
    return otherwise == nullptr ? Value::Data(None{}) : *otherwise;
  }
  List values;
  for (const auto& [key, item] : dict) values.push_back(item);
  return Value::list(std::move(values));
}

}  // namespace ingot::chat
