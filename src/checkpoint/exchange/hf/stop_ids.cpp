#include "checkpoint/exchange/hf/stop_ids.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/unique_json.h"
#include "core/error/log.h"
#include "core/json/json_member.h"
#include "tokenizer/hf/json_fields.h"

namespace ingot {
namespace {

constexpr char kMember[] = "eos_token_id";

int32_t id_in(const Json& value) {
  const bool is_id = value.is_number_integer() && value >= INT32_MIN && value <= INT32_MAX;
  check(is_id, ErrorCode::Data, "expected the id of a token or a list of them, got {}",
        shown(value));
  return value.get<int32_t>();
}

// The ids that a TemplateProcessing puts around a text, as far as they are these.
void read_template(const Json& processor, const Tokenizer& tokenizer, TextEnds& ends) {
  for (const Json& part : member(processor, "processors")) read_template(part, tokenizer, ends);
  const Json& single = member(processor, "single");
  if (text_of(processor, "type") != "TemplateProcessing" || !single.is_array() || single.empty())
    return;
  const auto is = [&](const Json& part, int32_t id) {
    const std::string name = text_of(member(part, "SpecialToken"), "id");
    const Json& token = member(member(processor, "special_tokens"), name.c_str());
    return !name.empty() && id >= 0 && member(token, "ids") == Json::array({id});
  };
  ends = {is(single.front(), tokenizer.bos()), is(single.back(), tokenizer.eos())};
}

}  // namespace

std::vector<int32_t> eos_ids_in(const Json& config) {
  const auto found = config.find(kMember);
  if (found == config.end() || found->is_null()) return {};
  return at_member<Json>(kMember, [&] {
    if (!found->is_array()) return std::vector{id_in(*found)};
    std::vector<int32_t> ids;
    for (const Json& value : *found) ids.push_back(id_in(value));
    return ids;
  });
}

FileStopIds read_stop_ids(std::string_view text, const std::string& path) {
  try {
    const Json config = Json::parse(text);
    check(config.is_object(), ErrorCode::Data, "expected a JSON object, got {}",
          config.type_name());
    return {path, eos_ids_in(config)};
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Data, located<Json>(path, text, error));
  } catch (const Error& error) {
    throw Error(ErrorCode::Data, located(path, text, error));
  }
}

std::vector<int32_t> merged_stop_ids(const std::vector<FileStopIds>& files, int64_t vocab) {
  std::set<int32_t> ids;
  for (const FileStopIds& file : files)
    for (const int32_t id : file.ids) {
      if (0 <= id && id < vocab)
        ids.insert(id);
      else
        log::warn("stop_id_left_out",
                  {{"file", file.path},
                   {"why", fmt::format("{}: expected ids from 0 to {}, as the model has them, got "
                                       "{}",
                                       kMember, vocab - 1, id)}});
    }
  return {ids.begin(), ids.end()};
}

std::vector<int32_t> hf_stop_ids(const std::map<std::string, std::string>& files, int64_t vocab,
                                 const std::string& dir) {
  std::vector<FileStopIds> found;
  for (const std::string_view name : {kHfGenerationName, kHfConfigName})
    if (const auto file = files.find(std::string(name)); file != files.end())
      found.push_back(read_stop_ids(file->second, join_path(dir, name)));
  return merged_stop_ids(found, vocab);
}

std::vector<int32_t> stop_ids_of(const AuxiliaryFiles& auxiliary_files,
                                 const Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  if (tokenizer.eos() >= 0) ids.push_back(tokenizer.eos());
  for (const int32_t id : auxiliary_files.stop_ids)
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  return ids;
}

TextEnds text_ends_of(const AuxiliaryFiles& auxiliary_files, const Tokenizer& tokenizer) {
  TextEnds ends{tokenizer.bos() >= 0, false};
  if (auxiliary_files.hf_files.contains("tokenizer.json") &&
      auxiliary_files.tokenizer.starts_with('{')) {
    ends.bos = false;
    read_template(
        member(parse_object(auxiliary_files.tokenizer, "the tokenizer"), "post_processor"),
        tokenizer, ends);
  }
  if (const auto file = auxiliary_files.hf_files.find("tokenizer_config.json");
      file != auxiliary_files.hf_files.end()) {
    const Json config = parse_object(file->second, file->first);
    const auto said = [&](const char* key, bool otherwise) {
      const Json& value = member(config, key);
      return value.is_boolean() ? value.get<bool>() : otherwise;
    };
    ends.bos = said("add_bos_token", ends.bos) && tokenizer.bos() >= 0;
    ends.eos = said("add_eos_token", ends.eos);
  }
  return ends;
}

}  // namespace ingot
