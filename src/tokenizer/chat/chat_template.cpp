#include "tokenizer/chat/chat_template.h"

#include <fmt/ranges.h>

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

void add_templates(const Json& value, const std::string& origin, ChatFiles& files) {
  if (value.is_string()) files.templates["default"] = {value.get<std::string>(), origin};
  if (!value.is_array()) return;
  for (const Json& one : value) {
    const bool is_template = one.is_object() && one.contains("name") && one.contains("template");
    check(is_template && one["name"].is_string() && one["template"].is_string(), ErrorCode::Data,
          "{}: chat_template: expected a list of names and templates", origin);
    files.templates[one["name"].get<std::string>()] = {one["template"].get<std::string>(), origin};
  }
}

void add_named_files(Storage& storage, const std::string& folder, ChatFiles& files) {
  constexpr std::string_view kExtension = ".jinja";
  if (!storage.exists(folder)) return;
  for (const std::string& name : storage.list(folder)) {
    if (!name.ends_with(kExtension)) continue;
    const std::string path = join_path(folder, name);
    files.templates[name.substr(0, name.size() - kExtension.size())] = {read_text(storage, path),
                                                                        path};
  }
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
  const chat::Value values = chat::parse_variables(variables, "{}", "the conversation");
  return chat::run(parsed_->nodes, values, parsed_->origin).text;
}

const ChatFiles::Source& ChatFiles::chosen(bool has_tools, std::string_view folder) const {
  check(!templates.empty(), ErrorCode::Data,
        "{}: no chat template: expected a tokenizer_config.json with \"chat_template\" or a "
        "chat_template.jinja there, or --template FILE",
        folder);
  if (const auto found = templates.find("tool_use"); has_tools && found != templates.end())
    return found->second;
  const auto found = templates.find("default");
  std::vector<std::string_view> names;
  for (const auto& [name, source] : templates) names.push_back(name);
  check(found != templates.end(), ErrorCode::Data,
        "{}: of its chat templates none is the default, there are {}: save the one that is "
        "meant as chat_template.jinja in a folder with the model's files",
        folder, fmt::join(names, ", "));
  return found->second;
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
    if (config.contains("chat_template")) add_templates(config["chat_template"], path, files);
  }
  if (const std::string path = join_path(folder, "chat_template.jinja"); storage.exists(path))
    files.templates["default"] = {read_text(storage, path), path};
  add_named_files(storage, join_path(folder, kNamedTemplates), files);
  files.variables = variables.dump();
  return files;
}

}  // namespace ingot
