#include "tokenizer/chat/chat_template.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error/error.h"
#include "tokenizer/chat/interpreter.h"
#include "tokenizer/chat/syntax.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

// A token is written as its text, or as an object with its text as «content».
std::string token_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const bool has_content = value.is_object() && value.contains("content");
  return has_content && value["content"].is_string() ? value["content"].get<std::string>() : "";
}

std::string template_of(const Json& value, const std::string& origin) {
  if (value.is_string()) return value.get<std::string>();
  std::string source;
  if (value.is_array()) {
    for (const Json& one : value) {
      const bool is_template = one.is_object() && one.contains("name") && one.contains("template");
      check(is_template && one["template"].is_string(), ErrorCode::Data,
            "{}: chat_template: expected a list of names and templates", origin);
      if (one["name"] == "default" || source.empty()) source = one["template"].get<std::string>();
      if (one["name"] == "default") break;
    }
  }
  return source;
}

}  // namespace

struct ChatTemplate::Parsed {
  std::string origin;
  std::vector<chat::Node> nodes;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string_view origin)
    : parsed_(std::make_unique<Parsed>(Parsed{std::string(origin), chat::parse(source, origin)})) {}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;

std::string ChatTemplate::render(std::string_view variables) const {
  const chat::Value values = chat::parse_json(variables, "the conversation");
  check(values.as_dict() != nullptr, ErrorCode::Data,
        "the conversation: expected a JSON object with \"messages\"");
  return chat::run(parsed_->nodes, values, parsed_->origin);
}

ChatFiles read_chat_files(Storage& storage, const std::string& folder) {
  ChatFiles files;
  Json variables = Json::object();
  if (const std::string path = join_path(folder, "tokenizer_config.json"); storage.exists(path)) {
    const Json config = Json::parse(read_text(storage, path), nullptr, /*allow_exceptions=*/false);
    check(config.is_object(), ErrorCode::Data, "{}: expected a JSON object", path);
    for (const auto& [name, value] : config.items()) {
      if (name.ends_with("_token") && !token_text(value).empty()) {
        variables[name] = token_text(value);
      }
    }
    if (config.contains("chat_template")) {
      files.source = template_of(config["chat_template"], path);
      files.origin = path;
    }
  }
  if (const std::string path = join_path(folder, "chat_template.jinja"); storage.exists(path)) {
    files.source = read_text(storage, path);
    files.origin = path;
  }
  files.variables = variables.dump();
  return files;
}

}  // namespace ingot
