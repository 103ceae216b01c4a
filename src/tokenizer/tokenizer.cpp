#include "tokenizer/tokenizer.h"

#include "tokenizer/byte_tokenizer.h"

namespace ingot {

std::string Tokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (int32_t id : ids) text += decode(id);
  return text;
}

std::unique_ptr<Tokenizer> load_tokenizer(Storage& storage, const std::string& name_or_path) {
  if (name_or_path == "byte") return byte_tokenizer();
  const std::string file = read_text(storage, name_or_path);
  if (file == kByteTokenizerFile) return byte_tokenizer();
  return parse_llama2c_tokenizer(file, name_or_path);
}

}  // namespace ingot
