// SentencePiece models and text, both arbitrary: the parser throws Error, or gives a tokenizer that
// writes the same file back, whose ids are all its own, and which gives the same ids again when it
// has seen the text before. Input: a byte n, the file, and the last n bytes as text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "tokenizer/sentencepiece/sentencepiece.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t text_size = std::min<size_t>(data[0], rest.size());
  const std::string_view text = rest.substr(rest.size() - text_size);
  const std::string_view file = rest.substr(0, rest.size() - text_size);

  std::unique_ptr<ingot::Tokenizer> tokenizer;
  try {
    tokenizer = ingot::parse_sentencepiece(file, "fuzz");
  } catch (const ingot::Error&) {
    return 0;
  }
  if (!ingot::looks_like_sentencepiece(file) || tokenizer->serialize() != file) abort();
  const std::vector<int32_t> ids = tokenizer->encode(text);
  for (const int32_t id : ids) {
    if (id < 0 || id >= tokenizer->vocab_size()) abort();
  }
  if (tokenizer->encode(text) != ids) abort();
  tokenizer->decode(ids);
  return 0;
}
