#include "eval/harness/yaml_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/error/error.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostIncludes = 16;

template <class Number>
bool reads_whole(std::string_view text, Number& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Of a value without quotes, by YAML 1.1.
Json typed(const std::string& text) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, text) != words.end();
  };
  if (is_one_of({"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  int64_t integer = 0;
  if (reads_whole(text, integer)) return integer;
  // PyYAML wants a point in a number with an exponent.
  double real = 0;
  if (text.find('.') != std::string::npos && reads_whole(text, real)) return real;
  return text;
}

Json value_of(const YAML::Node& node, const std::string& path, const std::string& key) {
  const auto place = [&] { return fmt::format("{}, line {}", path, node.Mark().line + 1); };
  const std::string& tag = node.Tag();
  check(tag != "!function", ErrorCode::Data,
        "{}: {}: !function {} is Python code, which is not run here: write it as a Jinja template, "
        "or prepare the data with it and name the prepared file",
        place(), key, node.IsScalar() ? node.Scalar() : "");
  check(tag.empty() || tag[0] != '!' || tag == "!", ErrorCode::Data,
        "{}: {}: the tag {} is not known", place(), key, tag);
  if (node.IsScalar()) return tag == "!" ? Json(node.Scalar()) : typed(node.Scalar());
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& item : node) list.push_back(value_of(item, path, key));
    return list;
  }
  if (!node.IsMap()) return nullptr;
  Json object = Json::object();
  for (const auto& entry : node) {
    const YAML::Node &name = entry.first, &value = entry.second;
    check(name.IsScalar(), ErrorCode::Data, "{}: expected texts as keys", place());
    object[name.Scalar()] = value_of(value, path, name.Scalar());
  }
  return object;
}

Json read(const std::string& path, int depth) {
  check(depth < kMostIncludes, ErrorCode::Data, "{}: files include each other without end", path);
  YAML::Node root;
  try {
    root = YAML::LoadFile(path);
  } catch (const YAML::BadFile&) {
    throw Error(ErrorCode::Data, fmt::format("{}: no such file, or it cannot be read", path));
  } catch (const YAML::Exception& error) {
    throw Error(ErrorCode::Data,
                fmt::format("{}, line {}: not YAML: {}", path, error.mark.line + 1, error.msg));
  }
  check(root.IsMap(), ErrorCode::Data, "{}: expected a task: keys and their values", path);
  Json own = value_of(root, path, "");
  if (!own.contains("include")) return own;
  std::vector<std::string> names;
  if (own["include"].is_string()) names.push_back(own["include"]);
  if (own["include"].is_array())
    for (const Json& name : own["include"]) names.push_back(name.is_string() ? name : "");
  Json merged = Json::object();
  for (const std::string& name : names) {
    const auto there = std::filesystem::path(path).parent_path() / name;
    merged.update(read(there.string(), depth + 1));
  }
  own.erase("include");
  merged.update(own);
  return merged;
}

}  // namespace

Json read_task_yaml(const std::string& path) {
  return read(path, 0);
}

}  // namespace ingot
