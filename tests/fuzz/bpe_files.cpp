// Byte-level BPE files and text, both arbitrary: the parsers throw Error, or give a tokenizer whose
// ids decode to the text (unless it is normalised first) and which written and read again gives the
// same ids. Input: a byte that says the format, a byte n, the file, and the last n bytes as text.
// In vocab.json + merges.txt, and in ranks + TOML, a zero byte stands between the two.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/rank_settings.h"
#include "tokenizer/special_tokens.h"

namespace {

ingot::BpeModel parse(uint8_t format, std::string_view file) {
  switch (format % 3) {
    case 0:
      return ingot::parse_tokenizer_json(file, "fuzz");
    case 1: {
      const size_t zero = format & 0x40 ? std::min(file.find('\0'), file.size()) : file.size();
      ingot::BpeModel model = ingot::parse_tiktoken(file.substr(0, zero), "fuzz");
      if (zero < file.size()) {
        ingot::apply_rank_settings(file.substr(zero + 1), "fuzz", model);
      } else if (format & 0x80) {
        ingot::apply_split(ingot::Split::Cl100k, model);
      }
      return model;
    }
    default: {
      const size_t zero = std::min(file.find('\0'), file.size());
      return ingot::parse_vocab_and_merges(file.substr(0, zero),
                                           file.substr(std::min(zero + 1, file.size())), "fuzz");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t text_size = std::min<size_t>(data[1], rest.size());
  const std::string_view text = rest.substr(rest.size() - text_size);
  try {
    const ingot::BpeModel model = parse(data[0], rest.substr(0, rest.size() - text_size));
    const auto tokenizer = ingot::bpe_tokenizer(model, "fuzz");
    const std::vector<int32_t> ids = tokenizer->encode(text);
    for (const int32_t id : ids) {
      if (id < 0 || id >= tokenizer->vocab_size()) abort();
    }
    // What an added token swallows, spaces beside it, does not come back; nor what NFC changes.
    const bool exact = !model.nfc && std::all_of(model.added.begin(), model.added.end(),
                                                 [](const auto& token) { return token.special; });
    if (exact && tokenizer->decode(ids) != text) abort();
    const auto again =
        ingot::bpe_tokenizer(ingot::parse_tokenizer_json(tokenizer->serialize(), "again"), "again");
    if (again->encode(text) != ids) abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
