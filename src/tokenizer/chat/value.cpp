#include "tokenizer/chat/value.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot::chat {
namespace {

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// str.isprintable(), of a character.
bool is_printable(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return code == ' ';
    default:
      return true;
  }
}

std::string quoted_for_python(std::string_view text) {
  const bool doubled =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = doubled ? '"' : '\'';
  std::string quoted(1, quote);
  for (const std::string_view character : characters_of(text)) {
    const uint32_t code = first_character(character).code_point;
    if (character[0] == quote || character == "\\") {
      quoted += '\\';
      quoted += character;
    } else if (character == "\n") {
      quoted += "\\n";
    } else if (character == "\r") {
      quoted += "\\r";
    } else if (character == "\t") {
      quoted += "\\t";
    } else if (is_printable(static_cast<utf8proc_int32_t>(code))) {
      quoted += character;
    } else if (code < 0x100) {
      quoted += fmt::format("\\x{:02x}", code);
    } else {
      quoted += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
  }
  return quoted + quote;
}

std::string quoted_for_json(std::string_view text, bool ascii) {
  return nlohmann::json(text).dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
}

void check_depth(int depth) {
  check(depth <= Value::kMostDepth, ErrorCode::Data,
        "values lie more than {} deep inside each other", Value::kMostDepth);
}

// Roles that programs give messages, and not people: a template may make a special token of one.
bool is_role(std::string_view text) {
  constexpr std::string_view kRoles[] = {"system", "user",     "assistant",   "tool",
                                         "model",  "function", "environment", "developer"};
  return std::ranges::find(kRoles, text) != std::end(kRoles);
}

Value value_of(const nlohmann::ordered_json& json, int depth = 0) {
  check_depth(depth);
  switch (json.type()) {
    case nlohmann::json::value_t::boolean:
      return Value::Data(json.get<bool>());
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
      check(!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX, ErrorCode::Data,
            "expected integers of 64 bits, got {}", json.get<uint64_t>());
      return Value::Data(json.get<int64_t>());
    case nlohmann::json::value_t::number_float:
      return Value::Data(json.get<double>());
    case nlohmann::json::value_t::string:
      return Value::message_text(json.get_ref<const std::string&>());
    case nlohmann::json::value_t::array: {
      List items;
      for (const auto& item : json) items.push_back(value_of(item, depth + 1));
      return Value::list(std::move(items));
    }
    case nlohmann::json::value_t::object: {
      Dict items;
      for (const auto& [key, item] : json.items()) {
        const bool by_program =
            key == "role" && item.is_string() && is_role(item.get_ref<const std::string&>());
        items.emplace_back(key, by_program ? Value::text(MarkedText(item.get<std::string>(), true))
                                           : value_of(item, depth + 1));
      }
      return Value::message_dict(std::move(items));
    }
    default:
      return Value::Data(None{});
  }
}

// Writes items between brackets.
template <class Items, class Write>
void write_items(const Items& items, char open, char close, std::string& out, Write write) {
  out += open;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    write(item);
  }
  out += close;
}

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, std::string& out) : style_(style), out_(out) {}

  void write(const Value& value) {
    if (const auto* text = value.as_text()) {
      out_ += quoted_for_json(*text, style_.ascii);
    } else if (const auto* list = value.as_list()) {
      write_items(*list, '[', ']', [&](const Value& item) { write(item); });
    } else if (const auto* dict = value.as_dict(); dict != nullptr && !value.is_namespace()) {
      Dict sorted;
      if (style_.sorted) {
        sorted = *dict;
        std::sort(sorted.begin(), sorted.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
      }
      write_items(style_.sorted ? sorted : *dict, '{', '}', [&](const auto& item) {
        out_ += quoted_for_json(item.first, style_.ascii) + style_.colon;
        write(item.second);
      });
    } else if (value.is_none()) {
      out_ += "null";
    } else if (const auto* truth = value.as_bool()) {
      out_ += *truth ? "true" : "false";
    } else {
      check(value.is_number(), ErrorCode::Data, "tojson: {} cannot be written as JSON",
            kind_of(value));
      const double number = value.number();
      out_ += std::isnan(number)   ? "NaN"
              : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                                   : value.str();
    }
  }

 private:
  // On lines of their own where there is an indent.
  template <class Items, class Write>
  void write_items(const Items& items, char open, char close, Write write) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += style_.between;
      first = false;
      new_line();
      write(item);
    }
    --depth_;
    if (!first) new_line();
    out_ += close;
  }
  void new_line() {
    if (!style_.indent) return;
    out_ += '\n';
    for (int i = 0; i < depth_; ++i) out_ += *style_.indent;
  }

  const JsonStyle& style_;
  std::string& out_;
  int depth_ = 0;
};

}  // namespace

Value Value::text(MarkedText text) {
  Value value(Data(std::move(text.text)));
  value.has_message_ = !text.is_from_template();
  value.origin_ = text.spans.empty() ? Origin::Template : Origin::Spans;
  if (value.origin_ == Origin::Spans)
    value.spans_ = std::make_shared<const std::vector<RenderedSpan>>(std::move(text.spans));
  return value;
}

template <class Items, class Get>
Value Value::holding(Items items, Get get) {
  int depth = 0;
  bool has_message = false, just_made = false;
  for (const auto& one : items) {
    const Value& item = get(one);
    depth = std::max(depth, item.depth_ + 1);
    has_message |= item.has_message();
    just_made |=
        item.holds_just_made_ || (item.as_text() != nullptr && item.origin_ == Origin::JustMade);
  }
  check_depth(depth);
  Value value(Data(std::make_shared<Items>(std::move(items))));
  value.depth_ = depth;
  value.has_message_ = has_message;
  value.holds_just_made_ = just_made;
  return value;
}

Value Value::list(List items) {
  return holding(std::move(items), [](const Value& item) -> const Value& { return item; });
}

Value Value::tuple(List items) {
  Value value = list(std::move(items));
  value.is_tuple_ = true;
  return value;
}

Value Value::dict(Dict items) {
  return holding(std::move(items), [](const auto& item) -> const Value& { return item.second; });
}

Value Value::message_dict(Dict items) {
  Value value = dict(std::move(items));
  value.has_message_ = true;
  return value;
}

Value Value::settled(bool from_message) const {
  if (as_text() != nullptr && origin_ == Origin::JustMade) {
    if (from_message) return message_text(*as_text());
    Value value = *this;
    value.origin_ = Origin::Template;
    return value;
  }
  if (!holds_just_made_ || is_namespace_) return *this;
  Value value;
  if (const List* items = as_list()) {
    List settled_items;
    for (const Value& item : *items) settled_items.push_back(item.settled(from_message));
    value = list(std::move(settled_items));
    value.is_tuple_ = is_tuple_;
  } else {
    Dict settled_items;
    for (const auto& [key, item] : *as_dict())
      settled_items.emplace_back(key, item.settled(from_message));
    value = dict(std::move(settled_items));
  }
  value.has_message_ |= has_message_;
  return value;
}

MarkedText Value::marked() const {
  const std::string* text = as_text();
  if (text != nullptr && origin_ == Origin::Spans) {
    MarkedText made;
    made.text = *text;
    made.spans = *spans_;
    return made;
  }
  return {str(), text != nullptr ? origin_ == Origin::Template : !has_message()};
}

Value Value::name_space(Dict items) {
  Value value = dict(std::move(items));
  value.is_namespace_ = true;
  return value;
}

const List* Value::as_list() const {
  const auto* list = std::get_if<std::shared_ptr<List>>(&data_);
  return list == nullptr ? nullptr : list->get();
}

const Dict* Value::as_dict() const {
  const auto* dict = std::get_if<std::shared_ptr<Dict>>(&data_);
  return dict == nullptr ? nullptr : dict->get();
}

Dict* Value::as_namespace() {
  return is_namespace_ ? std::get<std::shared_ptr<Dict>>(data_).get() : nullptr;
}

double Value::number() const {
  if (const auto* integer = as_integer()) return static_cast<double>(*integer);
  if (const auto* truth = as_bool()) return *truth ? 1 : 0;
  return std::get<double>(data_);
}

bool Value::is_true() const {
  if (is_number()) return number() != 0;
  if (const auto* text = as_text()) return !text->empty();
  if (is_namespace_) return true;
  if (const auto* list = as_list()) return !list->empty();
  if (const auto* dict = as_dict()) return !dict->empty();
  return as_function() != nullptr || as_macro() != nullptr;
}

bool Value::operator==(const Value& other) const {
  if (is_number() && other.is_number()) {
    if (as_integer() && other.as_integer()) return *as_integer() == *other.as_integer();
    return number() == other.number();
  }
  if (data_.index() != other.data_.index()) return false;
  if (const auto* text = as_text()) return *text == *other.as_text();
  if (const auto* list = as_list()) {
    return is_tuple_ == other.is_tuple_ && *list == *other.as_list();
  }
  if (const auto* dict = as_dict()) {
    if (is_namespace_ || other.is_namespace_) return dict == other.as_dict();
    return dict->size() == other.as_dict()->size() &&
           std::all_of(dict->begin(), dict->end(), [&](const auto& item) {
             const Value* theirs = other.find(item.first);
             return theirs != nullptr && item.second == *theirs;
           });
  }
  if (const auto* macro = as_macro()) return macro->node == other.as_macro()->node;
  if (const auto* function = as_function()) return function->name == other.as_function()->name;
  return true;  // two undefined ones, two nones
}

const Value* Value::find(std::string_view key) const {
  const Dict* dict = as_dict();
  if (dict == nullptr) return nullptr;
  const auto found =
      std::find_if(dict->begin(), dict->end(), [&](const auto& item) { return item.first == key; });
  return found == dict->end() ? nullptr : &found->second;
}

std::string Value::str() const {
  if (const auto* text = as_text()) return *text;
  return as_undefined() != nullptr ? "" : repr();
}

std::string Value::repr() const {
  if (const auto* text = as_text()) return quoted_for_python(*text);
  if (as_undefined() != nullptr) return "Undefined";
  if (is_none()) return "None";
  if (const auto* truth = as_bool()) return *truth ? "True" : "False";
  if (const auto* integer = as_integer()) return std::to_string(*integer);
  if (const auto* real = as_float()) return float_text(*real);
  if (is_namespace_) return "<Namespace>";  // it may hold itself
  std::string out;
  if (const auto* list = as_list()) {
    write_items(*list, is_tuple_ ? '(' : '[', is_tuple_ ? ')' : ']', out,
                [&](const Value& item) { out += item.repr(); });
    if (is_tuple_ && list->size() == 1) out.insert(out.size() - 1, ",");
  } else if (const auto* dict = as_dict()) {
    write_items(*dict, '{', '}', out, [&](const auto& item) {
      out += quoted_for_python(item.first) + ": " + item.second.repr();
    });
  } else {
    out = "<function>";
  }
  return out;
}

std::string_view kind_of(const Value& value) {
  if (value.as_text() != nullptr) return "a string";
  if (value.as_list() != nullptr) return "a list";
  if (value.as_dict() != nullptr) return "a dict";
  if (value.is_none()) return "none";
  if (value.as_undefined() != nullptr) return "an undefined value";
  return value.is_number() ? "a number" : "a function";
}

std::string to_json(const Value& value, const JsonStyle& style) {
  std::string out;
  JsonWriter(style, out).write(value);
  return out;
}

Value parse_json(std::string_view text, std::string_view origin) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  check(!json.is_discarded(), ErrorCode::Data, "{}: expected JSON", origin);
  return value_of(json);
}

Value parse_variables(std::string_view text, std::string_view known, std::string_view origin) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto own = nlohmann::ordered_json::parse(known, nullptr, /*allow_exceptions=*/false);
  check(json.is_object() && own.is_object(), ErrorCode::Data,
        "{}: expected a JSON object with \"messages\"", origin);
  Dict variables;
  for (const auto& [name, value] : json.items()) {
    const auto same = own.find(name);
    const bool is_own = value.is_string() && same != own.end() && *same == value;
    variables.emplace_back(name, is_own ? Value::text(MarkedText(value.get<std::string>(), true))
                                        : value_of(value, 1));
  }
  return Value::dict(std::move(variables));
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    characters.push_back(text.substr(0, first_character(text).size));
    text.remove_prefix(characters.back().size());
  }
  return characters;
}

bool is_python_space(std::string_view character) {
  const Character c = first_character(character);
  return (c.classes & kSpace) != 0 || (c.code_point >= 0x1C && c.code_point <= 0x1F);
}

std::string_view stripped(std::string_view text, const std::string* characters, bool left,
                          bool right) {
  const auto goes = [&](std::string_view character) {
    if (characters == nullptr) return is_python_space(character);
    const auto set = characters_of(*characters);
    return std::find(set.begin(), set.end(), character) != set.end();
  };
  while (left && !text.empty()) {
    const std::string_view first = text.substr(0, first_character(text).size);
    if (!goes(first)) break;
    text.remove_prefix(first.size());
  }
  while (right && !text.empty()) {
    const std::string_view last = text.substr(text.size() - last_character(text).size);
    if (!goes(last)) break;
    text.remove_suffix(last.size());
  }
  return text;
}

}  // namespace ingot::chat
