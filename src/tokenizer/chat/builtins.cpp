#include "tokenizer/chat/builtins.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/error/error.h"
#include "core/text/html.h"
#include "tokenizer/chat/list_filters.h"
#include "tokenizer/chat/percent_format.h"
#include "tokenizer/chat/text_case.h"
#include "tokenizer/chat/text_methods.h"

namespace ingot::chat {
namespace {

Value or_default(const CallArguments& arguments, Value otherwise) {
  const Value* given = arguments.get(0, "default");
  return given == nullptr ? otherwise : *given;
}

template <class Number>
bool reads_whole(std::string_view text, Number& number) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// A number as Python's float() reads it; nothing: it is none.
std::optional<double> float_of(const Value& value) {
  if (value.is_number()) return value.number();
  if (value.as_text() == nullptr) return std::nullopt;
  const std::string text = stripped(*value.as_text(), nullptr, true, true);
  double number = 0;
  return reads_whole(text, number) ? std::optional(number) : std::nullopt;
}

Value to_integer(const Value& value, const CallArguments& arguments) {
  if (value.is_number() && value.as_float() == nullptr) {
    return Value::Data(integer_of(value, "int"));
  }
  if (value.as_text() != nullptr) {
    const std::string text = stripped(*value.as_text(), nullptr, true, true);
    int64_t number = 0;
    if (reads_whole(text, number)) return Value::Data(number);
  }
  const std::optional<double> real = float_of(value);
  if (!real || !std::isfinite(*real)) return or_default(arguments, Value::Data(int64_t{0}));
  const double truncated = std::trunc(*real);
  check(std::abs(truncated) < 9e18, ErrorCode::Data, "int: {} is too large", value.str());
  return Value::Data(static_cast<int64_t>(truncated));
}

Value rounded(const Value& value, const CallArguments& arguments) {
  check(value.is_number(), ErrorCode::Data, "round: expected a number, got {}", kind_of(value));
  const Value* precision = arguments.get(0, "precision");
  const int64_t digits = precision == nullptr ? 0 : integer_of(*precision, "round");
  check(digits >= 0 && digits <= 15, ErrorCode::Data, "round: expected 0 to 15 digits");
  const Value* method = arguments.get(1, "method");
  const std::string name = method == nullptr ? "common" : text_of(*method, "round");
  if (name == "common") {
    if (value.as_float() == nullptr) return Value::Data(integer_of(value, "round"));
    return Value::Data(std::stod(fmt::format("{:.{}f}", value.number(), digits)));
  }
  check(name == "ceil" || name == "floor", ErrorCode::Data,
        "round: expected common, ceil or floor, got {}", name);
  const double scale = std::pow(10.0, static_cast<double>(digits)), scaled = value.number() * scale;
  const double whole = name == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return Value::Data((whole + 0.0) / scale);  // Python's is an integer here, and has no -0
}

// A text, or a number of spaces.
std::string margin_of(const Value& width, std::string_view who) {
  if (const std::string* text = width.as_text()) return *text;
  const int64_t count = integer_of(width, who);
  check(count < 1000, ErrorCode::Data, "{}: {} is no width", who, count);
  std::string margin;
  for (int64_t i = 0; i < count; ++i) margin += ' ';
  return margin;
}

// As transformers defines it: tojson(ensure_ascii, indent, separators, sort_keys).
Value json_of(const Value& value, const CallArguments& arguments) {
  JsonStyle style;
  style.ascii = arguments.is_true(0, "ensure_ascii");
  style.sorted = arguments.is_true(3, "sort_keys");
  const Value* indent = arguments.get(1, "indent");
  if (indent != nullptr && !indent->is_none()) {
    style.indent = margin_of(*indent, "tojson");
    style.between.pop_back();  // no space at the end of a line
  }
  const Value* separators = arguments.get(2, "separators");
  if (separators != nullptr && !separators->is_none()) {
    const List pair = items_of(*separators);
    check(pair.size() == 2, ErrorCode::Data, "tojson: expected two separators");
    style.between = text_of(pair[0], "tojson");
    style.colon = text_of(pair[1], "tojson");
  }
  return Value::text(to_json(value, style));
}

Value indented(const Value& value, const CallArguments& arguments, size_t most_bytes) {
  const Value* width = arguments.get(0, "width");
  const std::string margin = width == nullptr ? std::string(4, ' ') : margin_of(*width, "indent");
  std::string out = arguments.is_true(1, "first") ? margin : "";
  const List lines = split_lines(text_of(value, "indent") + "\n", false);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = *lines[i].as_text();
    if (i > 0) out += '\n';
    if (i > 0 && (!line.empty() || arguments.is_true(2, "blank"))) out += margin;
    out += line;
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

size_t kind_of_number(const Value& value) {
  return value.as_bool() != nullptr ? 0 : value.as_integer() != nullptr ? 1 : 2;
}

Value end_item(const Value& value, bool first) {
  const List items = items_of(value);
  if (items.empty()) return Value::undefined("an item of an empty list");
  return first ? items.front() : items.back();
}

}  // namespace

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
  if (a.is_number() && b.is_number()) {
    if (a.as_integer() != nullptr && b.as_integer() != nullptr) {
      return *a.as_integer() < *b.as_integer();
    }
    return a.number() < b.number();
  }
  if (a.as_list() != nullptr && b.as_list() != nullptr && a.is_tuple() == b.is_tuple()) {
    const List &left = *a.as_list(), &right = *b.as_list();
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (!(left[i] == right[i])) return is_less(left[i], right[i]);
    }
    return left.size() < right.size();
  }
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
  if (name == "tojson") return json_of(value, arguments);
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
  if (name == "upper") return Value::text(upper(value.str()));
  if (name == "lower") return Value::text(lower(value.str()));
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
  if (name == "float") {
    const std::optional<double> number = float_of(value);
    return number ? Value::Data(*number) : or_default(arguments, Value::Data(0.0));
  }
  if (name == "round") return rounded(value, arguments);
  if (name == "e" || name == "escape") return Value::text(escape_html(value.str()));
  if (name == "center") {
    const CallArguments width{{arguments.positional.empty() && arguments.named.empty()
                                   ? Value::Data(int64_t{80})
                                   : needed(arguments, 0, "width", name)},
                              {}};
    return call_text_method(value.str(), name, width, most_bytes);
  }
  if (name == "format") {
    check(arguments.named.empty() || arguments.positional.empty(), ErrorCode::Data,
          "format: expected values by place or by name, got both");
    const Value named = Value::dict(arguments.named);
    return Value::text(formatted_by_percent(
        value.str(), {arguments.positional, arguments.named.empty() ? nullptr : &named},
        most_bytes));
  }
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
  if (name == "dictsort" && value.as_dict() != nullptr) return dict_sorted(value, arguments);
  if (name == "replace") return call_text_method(value.str(), name, arguments, most_bytes);
  if (name == "indent") return indented(value, arguments, most_bytes);
  if (auto made = apply_list_filter(name, value, arguments, most_bytes)) return *std::move(made);
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
  if (name == "callable") {  // an undefined value can be called, and then refuses
    return value.as_function() != nullptr || value.as_macro() != nullptr ||
           value.as_undefined() != nullptr;
  }
  const bool has_items = value.as_text() != nullptr || value.as_list() != nullptr ||
                         (value.as_dict() != nullptr && !value.is_namespace());
  if (name == "sequence") return has_items || value.as_undefined() != nullptr;
  if (name == "iterable") return has_items || value.as_undefined() != nullptr;
  if (name == "odd") return integer_of(value, name) % 2 != 0;
  if (name == "even") return integer_of(value, name) % 2 == 0;
  if (name == "lower") return has_only(value.str(), "islower");
  if (name == "upper") return has_only(value.str(), "isupper");
  const auto other = [&]() -> const Value& { return needed(arguments, 0, "other", name); };
  if (name == "equalto" || name == "eq" || name == "==") return value == other();
  if (name == "sameas") {
    const bool number = value.is_number() && other().is_number();
    return value == other() && (!number || kind_of_number(value) == kind_of_number(other()));
  }
  if (name == "ne" || name == "!=") return !(value == other());
  if (name == "in") return contains(other(), value);
  if (name == "lt" || name == "lessthan" || name == "<") return is_less(value, other());
  if (name == "gt" || name == "greaterthan" || name == ">") return is_less(other(), value);
  if (name == "le" || name == "<=") return !is_less(other(), value);
  if (name == "ge" || name == ">=") return !is_less(value, other());
  if (name == "divisibleby") {
    const int64_t divisor = integer_of(other(), name);
    check(divisor != 0 && divisor != -1, ErrorCode::Data, "divisibleby: {} is no divisor", divisor);
    return integer_of(value, name) % divisor == 0;
  }
  throw Error(ErrorCode::Data, fmt::format("the test «is {}» is not supported", name));
}

bool has_method(const Value& object, std::string_view name) {
  if (object.as_text() != nullptr) return is_text_method(name);
  if (object.as_list() != nullptr) return name == "index" || name == "count";
  constexpr std::string_view kDict[] = {"items", "keys", "values", "get", "copy"};
  return object.as_dict() != nullptr && !object.is_namespace() &&
         std::find(std::begin(kDict), std::end(kDict), name) != std::end(kDict);
}

Value call_method(const Value& object, std::string_view name, const CallArguments& arguments,
                  size_t most_bytes) {
  if (const auto* text = object.as_text()) {
    return call_text_method(*text, name, arguments, most_bytes);
  }
  if (const auto* list = object.as_list()) {
    const Value& wanted = needed(arguments, 0, "value", name);
    if (name == "count") {
      return Value::integer(static_cast<size_t>(std::count(list->begin(), list->end(), wanted)));
    }
    const auto found = std::find(list->begin(), list->end(), wanted);
    check(found != list->end(), ErrorCode::Data, "index: {} is not in the list", wanted.repr());
    return Value::integer(static_cast<size_t>(found - list->begin()));
  }
  if (name == "copy") return object;
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
