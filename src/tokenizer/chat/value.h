// Values of chat templates: the subset of Python's that templates use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizer/chat/marked_text.h"

namespace ingot::chat {

class Value;
struct Node;
using List = std::vector<Value>;
using Dict = std::vector<std::pair<std::string, Value>>;  // in insertion order, unique keys

struct Undefined {
  std::string name;  // for error messages
};
struct None {};
struct Function {  // built in
  std::string name;
};
struct Macro {
  const Node* node;
};

// Lists and dicts are shared, not copied, as in Python. Only namespaces are mutable.
//
// Each text knows which of its bytes the template wrote and which a message did. A text that a
// filter or method has just made does not know yet: settled() then tells it, by what it was made
// of.
class Value {
 public:
  using Data = std::variant<Undefined, None, bool, int64_t, double, std::string,
                            std::shared_ptr<List>, std::shared_ptr<Dict>, Function, Macro>;

  Value() = default;
  Value(Data data) : data_(std::move(data)) {}  // NOLINT: implicit on purpose
  static Value text(std::string_view text) { return Data(std::string(text)); }  // just made
  static Value text(MarkedText text);
  static Value message_text(std::string_view text) { return Value::text(MarkedText(text, false)); }
  // These throw ErrorCode::Data if lists are nested deeper than kMostDepth.
  static constexpr int kMostDepth = 200;
  static Value list(List items);
  static Value tuple(List items);  // a list that prints like a Python tuple
  static Value dict(Dict items);
  static Value message_dict(Dict items);  // also its keys are a message's
  static Value name_space(Dict items);
  static Value undefined(std::string_view name) { return Data(Undefined{std::string(name)}); }
  static Value integer(size_t value) { return Data(static_cast<int64_t>(value)); }

  // Null if the value has another type.
  const std::string* as_text() const { return std::get_if<std::string>(&data_); }
  const List* as_list() const;
  const Dict* as_dict() const;
  const Macro* as_macro() const { return std::get_if<Macro>(&data_); }
  const Function* as_function() const { return std::get_if<Function>(&data_); }
  const Undefined* as_undefined() const { return std::get_if<Undefined>(&data_); }
  const int64_t* as_integer() const { return std::get_if<int64_t>(&data_); }
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const double* as_float() const { return std::get_if<double>(&data_); }
  Dict* as_namespace();

  bool is_namespace() const { return is_namespace_; }
  bool is_tuple() const { return is_tuple_; }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_number() const { return as_integer() || as_bool() || as_float(); }
  double number() const;  // the value must be a number

  bool is_true() const;
  bool operator==(const Value& other) const;
  const Value* find(std::string_view key) const;  // in a dict; null: absent

  // Whether a message wrote any byte of it, or of what it holds. A namespace may hold anything.
  bool has_message() const { return has_message_ || is_namespace_; }
  // Texts in it that were just made become the template's, or a message's if `from_message`.
  Value settled(bool from_message) const;
  // As {{ … }} prints it. A text that is not settled counts as a message's.
  MarkedText marked() const;

  std::string str() const;   // the same without marks
  std::string repr() const;  // as printed inside a list

 private:
  template <class Items, class Get>
  static Value holding(Items items, Get get);

  Data data_;
  int depth_ = 0;  // nesting depth of lists and dicts
  enum class Origin : uint8_t { JustMade, Template, Spans };
  Origin origin_ = Origin::JustMade;                        // of a text
  std::shared_ptr<const std::vector<RenderedSpan>> spans_;  // of a text, with Origin::Spans
  bool has_message_ = false, holds_just_made_ = false;
  bool is_namespace_ = false, is_tuple_ = false;
};

// "a string", "an integer", …: for error messages.
std::string_view kind_of(const Value& value);

// Options of Python's json.dumps().
struct JsonStyle {
  std::optional<std::string> indent = {};  // nothing: all on one line
  std::string between = ", ", colon = ": ";
  bool ascii = false, sorted = false;
};
std::string to_json(const Value& value, const JsonStyle& style);
// Throws ErrorCode::Data, naming `origin`, if the text is not JSON. Its texts are a message's.
Value parse_json(std::string_view text, std::string_view origin);
// The variables of a template. Texts are a message's, except roles that every program knows and
// top-level texts that `known`, a JSON object, has as well. Throws ErrorCode::Data, naming
// `origin`, if a text is not a JSON object.
Value parse_variables(std::string_view text, std::string_view known, std::string_view origin);

// The characters of UTF-8 text; an invalid byte counts as one character.
std::vector<std::string_view> characters_of(std::string_view text);
bool is_python_space(std::string_view character);
// Removes from both ends all of `characters`, or whitespace if that is null.
std::string_view stripped(std::string_view text, const std::string* characters, bool left,
                          bool right);

}  // namespace ingot::chat
