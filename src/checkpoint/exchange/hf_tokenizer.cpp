#include "checkpoint/exchange/hf_tokenizer.h"

#include <nlohmann/json.hpp>

#include "checkpoint/exchange/hf_tensors.h"
#include "checkpoint/exchange/open_weights.h"
#include "checkpoint/exchange/stop_ids.h"
#include "tokenizer/convert.h"

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

}  // namespace

void add_token_ids(Json& config, const Companions& companions, const Tokenizer& tokenizer) {
  if (tokenizer.bos() >= 0) config["bos_token_id"] = tokenizer.bos();
  const std::vector<int32_t> stop_ids = stop_ids_of(companions, tokenizer);
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

std::map<std::string, std::string> hf_tokenizer_files(const Companions& companions) {
  std::map<std::string, std::string> files = companions.hf_files;
  files.erase(std::string(kHfConfigName));
  const auto has = [&](const char* name) { return files.contains(name); };
  const auto tokenizer = tokenizer_of(companions);
  if (tokenizer->kind() == "llama2c") {
    // No file of theirs encodes by its rules; this program finds it again.
    files["tokenizer.bin"] = companions.tokenizer;
  } else if (!has("tokenizer.json") && !has("tokenizer.model") && !has("vocab.json")) {
    const std::string text = tokenizer_json_of(*tokenizer);
    const auto json = nlohmann::json::parse(text);
    files["tokenizer.json"] = text;
    Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                   {"clean_up_tokenization_spaces", false}};
    for (const auto& [key, id] :
         {std::pair{"bos_token", tokenizer->bos()}, std::pair{"eos_token", tokenizer->eos()}})
      if (const std::string token = token_text(json, id); !token.empty()) config[key] = token;
    if (!has("tokenizer_config.json")) files["tokenizer_config.json"] = config.dump(2) + "\n";
  }
  if (!files.contains(std::string(kHfGenerationName))) {
    Json config = Json::object();
    add_token_ids(config, companions, *tokenizer);
    files[std::string(kHfGenerationName)] = config.dump(2) + "\n";
  }
  return files;
}

}  // namespace ingot
