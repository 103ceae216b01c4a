#include <algorithm>

#include "core/error/error.h"
#include "eval/harness/harness_task.h"

namespace ingot {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

DocField::DocField(const nlohmann::ordered_json& value, const std::vector<std::string>& fields,
                   bool gives_number, const std::string& origin)
    : origin_(origin), gives_number_(gives_number) {
  if (value.is_null()) return;
  if (!value.is_string()) {
    kind_ = Kind::Value;
    // The values of an object are the choices; its keys only name them.
    auto list = value;
    if (value.is_object()) {
      list = nlohmann::ordered_json::array();
      for (const auto& item : value) list.push_back(item);
    }
    value_ = chat::parse_json(list.dump(), origin);
    return;
  }
  const std::string text = value.get<std::string>();
  if (std::ranges::find(fields, text) != fields.end()) {
    kind_ = Kind::Field;
    field_ = text;
    return;
  }
  kind_ = Kind::Template;
  template_ = std::make_shared<chat::TextTemplate>(text, origin);
}

chat::Value DocField::of(const chat::Value& document) const {
  switch (kind_) {
    case Kind::None:
      return {};
    case Kind::Value:
      return value_;
    case Kind::Field: {
      const chat::Value* found = document.find(field_);
      check(found != nullptr, ErrorCode::Data, "{}: a document has no field «{}»", origin_, field_);
      return *found;
    }
    case Kind::Template:
      break;
  }
  const std::string text = template_->render(document);
  if (gives_number_ && is_number(text)) return chat::Value::Data(int64_t{std::stoi(text)});
  return chat::Value::text(text);
}

std::string DocField::text_of(const chat::Value& document) const {
  const chat::Value value = of(document);
  check(value.as_text() != nullptr, ErrorCode::Data, "{}: expected a text, got {}", origin_,
        chat::kind_of(value));
  return *value.as_text();
}

std::vector<std::string> DocField::list_of(const chat::Value& document) const {
  chat::Value value = of(document);
  if (const std::string* text = value.as_text()) value = chat::python_literal(*text, origin_);
  check(value.as_list() != nullptr && !value.as_list()->empty(), ErrorCode::Data,
        "{}: expected a list of texts, got {}", origin_, chat::kind_of(value));
  std::vector<std::string> texts;
  for (const chat::Value& item : *value.as_list()) {
    check(item.as_text() != nullptr, ErrorCode::Data, "{}: expected a list of texts, got one of {}",
          origin_, chat::kind_of(item));
    texts.push_back(*item.as_text());
  }
  return texts;
}

}  // namespace ingot
