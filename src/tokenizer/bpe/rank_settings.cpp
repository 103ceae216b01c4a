#include "tokenizer/bpe/rank_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "spec/settings/toml_tree.h"
#include "tokenizer/special_tokens.h"

namespace ingot {
namespace {

using nlohmann::json;

// Ids far beyond the ranks would make the vocabulary large, not the text short.
constexpr int64_t kMostIdsBeyondRanks = 65536;

Split split_in(const json& value, std::string_view origin) {
  const auto split =
      value.is_string() ? split_named(value.get<std::string>()) : std::optional<Split>();
  check(split.has_value(), ErrorCode::Config, "{}: split: expected one of {}, got {}", origin,
        fmt::join(split_names(), ", "), value.dump());
  return *split;
}

void add_tokens(const json& tokens, std::string_view origin, BpeModel& model) {
  check(tokens.is_object(), ErrorCode::Config,
        "{}: special_tokens: expected a section of \"TOKEN\" = ID", origin);
  const auto most = static_cast<int64_t>(model.tokens.size()) + kMostIdsBeyondRanks;
  for (const auto& [content, id] : tokens.items()) {
    const bool is_id = id.is_number_integer() && id.get<int64_t>() >= 0 && id.get<int64_t>() < most;
    check(is_id && !content.empty(), ErrorCode::Config,
          "{}: special_tokens: \"{}\": expected an id from 0 to {}, got {}", origin, content,
          most - 1, id.dump());
    const auto number = id.get<size_t>();
    const bool is_taken = number < model.tokens.size() && !model.tokens[number].empty();
    check(!is_taken, ErrorCode::Config,
          "{}: special_tokens: \"{}\": id {} is a rank of the file already", origin, content,
          number);
    add_special_token(content, static_cast<int32_t>(number), model);
  }
}

int32_t id_of(const json& value, const char* key, std::string_view origin, const BpeModel& model) {
  for (const AddedToken& token : model.added) {
    if (value.is_string() && value.get<std::string>() == token.content) return token.id;
  }
  throw Error(ErrorCode::Config, fmt::format("{}: {}: expected one of the special tokens, got {}",
                                             origin, key, value.dump()));
}

std::string in_quotes(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string rank_settings_path(std::string_view rank_file) {
  const size_t name_size = file_name(rank_file).size(), dot = rank_file.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot >= rank_file.size() - name_size;
  return std::string(rank_file.substr(0, has_ending ? dot : rank_file.size())) + ".toml";
}

void apply_rank_settings(std::string_view toml, std::string_view origin, BpeModel& model) {
  const json settings = parse_toml_tree(toml, origin);
  for (const auto& [key, value] : settings.items()) {
    check(key == "split" || key == "special_tokens" || key == "bos" || key == "eos",
          ErrorCode::Config, "{}: {}: unknown setting; expected split, special_tokens, bos and eos",
          origin, key);
  }
  check(settings.contains("split"), ErrorCode::Config, "{}: expected split = \"…\", one of {}",
        origin, fmt::join(split_names(), ", "));
  const Split split = split_in(settings["split"], origin);
  if (settings.contains("special_tokens")) {
    model.split = split;
    add_tokens(settings["special_tokens"], origin, model);
    set_bos_and_eos(model, bos_and_eos_of(model.added));
  } else {
    apply_split(split, model);
  }
  if (settings.contains("bos")) model.bos = id_of(settings["bos"], "bos", origin, model);
  if (settings.contains("eos")) model.eos = id_of(settings["eos"], "eos", origin, model);
}

std::string to_rank_settings(const BpeModel& model) {
  std::string toml = fmt::format("split = \"{}\"\n", name_of(model.split)), tokens;
  for (const AddedToken& token : model.added) {
    if (token.id == model.bos) toml += fmt::format("bos = {}\n", in_quotes(token.content));
    if (token.id == model.eos) toml += fmt::format("eos = {}\n", in_quotes(token.content));
    tokens += fmt::format("{} = {}\n", in_quotes(token.content), token.id);
  }
  return toml + "\n[special_tokens]\n" + tokens;
}

}  // namespace ingot
