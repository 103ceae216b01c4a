#include "tokenizer/chat/conversation.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

// Looks at what is lost once it is parsed: an integer of more digits is a float, and of a name that
// is there twice the last one counts.
class WrittenCheck : public nlohmann::json_sax<Json> {
 public:
  explicit WrittenCheck(std::string_view origin) : origin_(origin) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > INT64_MAX) refuse(std::to_string(value));
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (text.find_first_of(".eE") == std::string::npos) refuse(text);
    return true;
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override {
    names_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    check(names_.back().insert(name).second, ErrorCode::Data, "{}: \"{}\" is there twice", origin_,
          name);
    return true;
  }
  bool end_object() override {
    names_.pop_back();
    return true;
  }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;  // who parses it says so
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw Error(ErrorCode::Data, fmt::format("{}: expected integers of 64 bits, got {}{}", origin_,
                                             text.substr(0, 40), text.size() > 40 ? "…" : ""));
  }
  std::string_view origin_;
  std::vector<std::set<std::string>> names_;  // of the objects that are open
};

void check_objects(const Json& list, std::string_view name, std::string_view origin) {
  check(list.is_array(), ErrorCode::Data, "{}: {}: expected a list, got {}", origin, name,
        list.type_name());
  for (const Json& item : list)
    check(item.is_object(), ErrorCode::Data, "{}: {}: expected objects, got {}", origin, name,
          item.type_name());
}

// Published templates read «reasoning_content», those of gpt-oss «thinking».
Json prepared(const Json& message) {
  Json made = Json::object();
  Json reasoning;
  for (const char* name : {"reasoning_content", "thinking", "reasoning"})
    if (reasoning.is_null() && message.contains(name)) reasoning = message.at(name);
  if (!reasoning.is_null()) made["thinking"] = reasoning;
  for (const auto& [name, value] : message.items())
    if (!value.is_null()) made[name] = value;
  if (!reasoning.is_null()) made["reasoning_content"] = reasoning;
  return made;
}

}  // namespace

std::string chat_variables(std::string_view conversation, std::string_view known,
                           bool generation_prompt, std::string_view origin) {
  WrittenCheck written(origin);
  Json::sax_parse(conversation, &written);
  const Json given = Json::parse(conversation, nullptr, /*allow_exceptions=*/false);
  check(given.is_array() || given.is_object(), ErrorCode::Data,
        "{}: expected JSON, a list of messages or an object with \"messages\"", origin);
  Json all = Json::parse(known);
  all["add_generation_prompt"] = generation_prompt;
  for (const char* name : {"tools", "documents"}) all[name] = nullptr;
  if (given.is_array())
    all["messages"] = given;
  else
    all.update(given);
  check(all.contains("messages"), ErrorCode::Data, "{}: expected \"messages\", got none", origin);
  Json& messages = all["messages"];
  check_objects(messages, "messages", origin);
  check(!messages.empty(), ErrorCode::Data, "{}: messages: expected at least one, got none",
        origin);
  for (Json& message : messages) message = prepared(message);
  for (const char* name : {"tools", "documents"})
    if (!all[name].is_null()) check_objects(all[name], name, origin);
  return all.dump();
}

}  // namespace ingot
