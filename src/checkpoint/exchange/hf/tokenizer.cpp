#include "checkpoint/exchange/hf/tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/convert.h"
#include "tokenizer/tokenizer_file.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

std::string tokenizer_json_of(const Tokenizer& tokenizer) {
  return tokenizer.kind() == "byte" ? to_tokenizer_json(byte_bpe_model())
                                    : file_as(tokenizer, "tokenizer.json");
}

// How the id is spelt in a tokenizer.json; empty: not there. The file's members are not wanted in
// order: reading a large vocabulary so takes time by its square.
std::string token_text(const nlohmann::json& tokenizer, int32_t id) {
  for (const auto& added : tokenizer.value("added_tokens", nlohmann::json::array()))
    if (added.value("id", -1) == id) return added.value("content", "");
  return "";
}

constexpr std::string_view kTokenizerFiles[] = {
    "tokenizer.json",    "tokenizer.model",       "vocab.json",
    "merges.txt",        "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja",   "chat_template.json"};

constexpr char kTokenizerClass[] = "PreTrainedTokenizerFast";  // reads tokenizer.json alone

// What lies beside a tokenizer's file and belongs to it: not other tokenizers.
bool belongs_to(std::string_view name, std::string_view file) {
  if (name == "merges.txt") return file == "vocab.json";
  const bool is_tokenizer =
      name == "tokenizer.json" || name == "tokenizer.model" || name == "vocab.json";
  return !is_tokenizer || name == file;
}

// Those that say what the tokenizer at `given` is, as Hugging Face reads them. Empty: it is of a
// kind that no such files say.
std::map<std::string, std::string> files_of_given(Storage& storage, const std::string& given) {
  if (given == "byte") return {};
  const std::string path = tokenizer_file(storage, given), file = file_name(path);
  if (!is_hf_tokenizer_file(file)) return {};
  auto files = tokenizer_files_in(storage, parent_path(path));
  if (path == given)
    std::erase_if(files, [&](const auto& each) { return !belongs_to(each.first, file); });
  return files;
}

bool is_tokenizer_of(Storage& storage, const std::string& folder, const Tokenizer& given) {
  try {
    return load_tokenizer(storage, folder)->serialize() == given.serialize();
  } catch (const Error&) {
    return false;  // a damaged one, which the given one is to replace
  }
}

}  // namespace

bool is_hf_tokenizer_file(std::string_view name) {
  return std::ranges::find(kTokenizerFiles, name) != std::end(kTokenizerFiles);
}

std::map<std::string, std::string> tokenizer_files_in(Storage& storage, const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const std::string_view name : kTokenizerFiles)
    if (const std::string path = join_path(folder, name); storage.exists(path))
      files[std::string(name)] = read_text(storage, path);
  return files;
}

std::unique_ptr<Tokenizer> own_hf_tokenizer(Storage& storage, const std::string& folder) {
  check(holds_tokenizer(storage, folder), ErrorCode::Data,
        "'{}' holds no tokenizer: import it with --tokenizer and the path of one, or with "
        "--tokenizer byte where its tokens are bytes",
        folder);
  return load_tokenizer(storage, folder);
}

std::unique_ptr<Tokenizer> given_hf_tokenizer(Storage& storage, const std::string& folder,
                                              const std::string& given,
                                              AuxiliaryFiles& auxiliary_files) {
  auto tokenizer = load_tokenizer(storage, given);
  if (!holds_tokenizer(storage, folder) || is_tokenizer_of(storage, folder, *tokenizer))
    return tokenizer;
  std::vector<std::string> left_out;
  std::erase_if(auxiliary_files.hf_files, [&](const auto& file) {
    if (!is_hf_tokenizer_file(file.first)) return false;
    left_out.push_back(file.first);
    return true;
  });
  auxiliary_files.hf_files.merge(files_of_given(storage, given));
  log::warn("tokenizer_replaced", {{"by", given},
                                   {"left_out", fmt::format("{} files of {}: {}", left_out.size(),
                                                            folder, fmt::join(left_out, ", "))}});
  return tokenizer;
}

void add_chat_files(Storage& storage, const std::string& given, const Tokenizer& tokenizer,
                    int64_t vocab, AuxiliaryFiles& auxiliary_files) {
  if (given == "byte") return;
  const std::string folder = parent_path(tokenizer_file(storage, given));
  std::map<std::string, std::string> configs;
  for (const std::string_view name : {kHfGenerationName, kHfConfigName})
    if (const std::string path = join_path(folder, name); storage.exists(path))
      configs[std::string(name)] = read_text(storage, path);
  auxiliary_files.stop_ids = hf_stop_ids(configs, vocab, folder);
  if (read_chat_files(storage, folder).templates.empty()) return;
  constexpr char kConfig[] = "tokenizer_config.json", kTemplate[] = "chat_template.jinja";
  Json config = Json::object();
  if (const std::string path = join_path(folder, kConfig); storage.exists(path))
    config = Json::parse(read_text(storage, path));
  if (!config.contains("tokenizer_class")) config["tokenizer_class"] = kTokenizerClass;
  config["add_bos_token"] = tokenizer.bos() >= 0;
  config["add_eos_token"] = false;
  auxiliary_files.hf_files[kConfig] = config.dump(2) + "\n";
  if (const std::string path = join_path(folder, kTemplate); storage.exists(path))
    auxiliary_files.hf_files[kTemplate] = read_text(storage, path);
}

void add_token_ids(Json& config, const AuxiliaryFiles& auxiliary_files,
                   const Tokenizer& tokenizer) {
  if (tokenizer.bos() >= 0) config["bos_token_id"] = tokenizer.bos();
  const std::vector<int32_t> stop_ids = stop_ids_of(auxiliary_files, tokenizer);
  if (stop_ids.size() == 1)
    config["eos_token_id"] = stop_ids.front();
  else if (!stop_ids.empty())
    config["eos_token_id"] = stop_ids;
}

BpeModel byte_bpe_model() {
  BpeModel model;
  for (int byte = 0; byte < 256; ++byte) model.tokens.emplace_back(1, static_cast<char>(byte));
  AddedToken separator;
  separator.id = 256;
  separator.content = "<|endoftext|>";
  separator.special = true;
  model.tokens.push_back(separator.content);
  model.added.push_back(separator);
  model.bos = model.eos = 256;
  return model;
}

std::map<std::string, std::string> hf_tokenizer_files(const AuxiliaryFiles& auxiliary_files) {
  std::map<std::string, std::string> files = auxiliary_files.hf_files;
  files.erase(std::string(kHfConfigName));
  const auto has = [&](const char* name) { return files.contains(name); };
  const auto tokenizer = tokenizer_of(auxiliary_files);
  if (tokenizer->kind() == "llama2c") {
    // No file of theirs encodes by its rules; this program finds it again.
    files["tokenizer.bin"] = auxiliary_files.tokenizer;
    log::warn("tokenizer_not_of_transformers",
              {{"file", "tokenizer.bin"},
               {"why",
                "no tokenizer.json encodes as llama2.c does: transformers loads the model "
                "and finds no tokenizer; this program reads tokenizer.bin"}});
  } else if (!has("tokenizer.json") && !has("tokenizer.model") && !has("vocab.json")) {
    const std::string text = tokenizer_json_of(*tokenizer);
    const auto json = nlohmann::json::parse(text);
    files["tokenizer.json"] = text;
    Json config = {{"tokenizer_class", kTokenizerClass}, {"clean_up_tokenization_spaces", false}};
    for (const auto& [key, id] :
         {std::pair{"bos_token", tokenizer->bos()}, std::pair{"eos_token", tokenizer->eos()}})
      if (const std::string token = token_text(json, id); !token.empty()) config[key] = token;
    if (!has("tokenizer_config.json")) files["tokenizer_config.json"] = config.dump(2) + "\n";
  }
  if (!files.contains(std::string(kHfGenerationName))) {
    Json config = Json::object();
    add_token_ids(config, auxiliary_files, *tokenizer);
    files[std::string(kHfGenerationName)] = config.dump(2) + "\n";
  }
  return files;
}

}  // namespace ingot
