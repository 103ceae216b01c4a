#include "checkpoint/exchange/hf/tensors.h"

#include <nlohmann/json.hpp>

#include "checkpoint/unique_json.h"
#include "core/json/json_member.h"

namespace ingot {
namespace {

// "layers.3.qkv.weight" by "layers.{}.qkv.weight" is "3"; nothing where it does not match, empty
// where the pattern has no number.
std::optional<std::string> layer_in(std::string_view name, std::string_view pattern) {
  const size_t at = pattern.find("{}");
  if (at == std::string_view::npos)
    return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, at), after = pattern.substr(at + 2);
  if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  if (name.size() <= before.size() + after.size()) return std::nullopt;
  return std::string(name.substr(at, name.size() - before.size() - after.size()));
}

std::string with_layer(std::string pattern, const std::string& layer) {
  const size_t at = pattern.find("{}");
  return at == std::string::npos ? pattern : pattern.replace(at, 2, layer);
}

// The name of a file beside the index.
std::string file_in(const nlohmann::json& json) {
  check(json.is_string(), ErrorCode::Data, "expected the name of a file, got {}", shown(json));
  const auto file = json.get<std::string>();
  check(!file.empty() && file.find('/') == std::string::npos &&
            file.find('\0') == std::string::npos && file != "." && file != "..",
        ErrorCode::Data, "expected a file beside the index, got one of another folder, {}",
        shown(json));
  return file;
}

Shape rows_of(const Shape& whole, int64_t rows) {
  Shape part = whole;
  part.set(0, rows);
  return part;
}

}  // namespace

std::vector<ForeignTensor> foreign_tensors_of(const TensorSpec& parameter,
                                              std::span<const TensorRow> rows) {
  std::vector<ForeignTensor> found;
  for (const TensorRow& row : rows) {
    const auto layer = layer_in(parameter.name, row.ours);
    if (!layer) continue;
    check(row.theirs.size() == 1 || row.theirs.size() == parameter.parts.size(),
          ErrorCode::Internal, "{} has {} parts, {} there", parameter.name, parameter.parts.size(),
          row.theirs.size());
    for (size_t i = 0; i < row.theirs.size(); ++i) {
      Shape shape =
          row.theirs.size() == 1 ? parameter.shape : rows_of(parameter.shape, parameter.parts[i]);
      if (row.transposed) shape = {shape[1], shape[0]};
      found.push_back({with_layer(row.theirs[i], *layer), shape, row.transposed, row.from_one});
    }
    return found;
  }
  return found;
}

std::vector<ForeignTensor> hf_tensors_of(const TensorSpec& parameter,
                                         const Architecture& architecture) {
  std::vector<ForeignTensor> found = foreign_tensors_of(parameter, architecture.tensors);
  check(!found.empty(), ErrorCode::Config, "{} has no tensor for {}", architecture.name,
        parameter.name);
  for (ForeignTensor& tensor : found)
    if (tensor.name != "lm_head.weight") tensor.name = architecture.base + tensor.name;
  return found;
}

std::map<std::string, std::string> parse_hf_index(std::string_view text, const std::string& path) {
  using Json = nlohmann::json;
  constexpr char kAdvice[] = "; it is no index of tensors: get the file again";
  try {
    std::map<std::string, std::string> files;
    const Json index = parse_unique_json(text);
    check(index.is_object(), ErrorCode::Data, "expected a JSON object, got {}", index.type_name());
    at_member<Json>("weight_map", [&] {
      check(index.contains("weight_map"), ErrorCode::Data, "it is missing");
      const Json& map = index["weight_map"];
      check(map.is_object() && !map.empty(), ErrorCode::Data,
            "expected an object of files by tensor, got {}",
            map.empty() ? "none" : map.type_name());
      for (const auto& [tensor, file] : map.items())
        files[tensor] = at_member<Json>(tensor, [&] { return file_in(file); });
    });
    return files;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Data, located<Json>(path, text, error) + kAdvice);
  } catch (const Error& error) {
    throw Error(ErrorCode::Data, located(path, text, error) + kAdvice);
  }
}

}  // namespace ingot
