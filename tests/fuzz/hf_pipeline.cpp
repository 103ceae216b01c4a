// tokenizer.json of any arrangement, and text, both arbitrary: the reader throws Error, or gives a
// tokenizer that keeps the file, whose ids are all its own, and which gives the same ids again when
// it has seen the text before; patterns go through the engine. Input: a byte n, the file, and the
// last n bytes as text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "tokenizer/hf/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t text_size = std::min<size_t>(data[0], rest.size());
  const std::string_view text = rest.substr(rest.size() - text_size);
  const std::string file(rest.substr(0, rest.size() - text_size));

  try {
    const ingot::Json json = ingot::parse_object(file, "fuzz");
    const auto tokenizer =
        ingot::hf_pipeline_tokenizer(ingot::hf_pipeline_from(json, "fuzz"), file);
    std::vector<int32_t> ids = tokenizer->encode(text);
    if (tokenizer->encode(text) != ids || tokenizer->serialize() != file) abort();
    tokenizer->encode_with_specials(text, ids);
    for (const int32_t id : ids) {
      if (id < 0 || id >= tokenizer->vocab_size()) abort();
      tokenizer->decode(id);
    }
    tokenizer->decode(ids);
  } catch (const ingot::Error&) {
  }
  return 0;
}
