// The llama2.c tokenizer on arbitrary files and text: the parser throws Error, or gives a tokenizer
// that writes the same file back and under which any text decodes to itself.
// Input: a byte whether the 259 fixed pieces are put in front (random bytes never pass them), a
// byte n, the file, and the last n bytes as text.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "tokenizer/tokenizer.h"

namespace {

// int32 longest piece, then per id float32 score, int32 length, bytes.
std::string fixed_pieces() {
  std::string file("\x40\0\0\0", 4);
  const auto append = [&](const std::string& piece) {
    file += std::string(4, '\0') + static_cast<char>(piece.size()) + std::string(3, '\0') + piece;
  };
  for (const char* special : {"<unk>", "<s>", "</s>"}) append(special);
  for (int byte = 0; byte < 256; ++byte) append(fmt::format("<0x{:02X}>", byte));
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  static const std::string fixed = fixed_pieces();
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t text_size = std::min<size_t>(data[1], rest.size());
  const std::string text(rest.substr(rest.size() - text_size));
  std::string file(rest.substr(0, rest.size() - text_size));
  if (data[0] % 2 == 1) file = fixed + file;

  std::unique_ptr<ingot::Tokenizer> tokenizer;
  try {
    tokenizer = ingot::parse_llama2c_tokenizer(file, "fuzz");
  } catch (const ingot::Error&) {
    return 0;
  }
  if (tokenizer->serialize() != file) abort();
  std::vector<int32_t> ids{tokenizer->bos()};
  for (const int32_t id : tokenizer->encode(text)) ids.push_back(id);
  if (tokenizer->decode(ids) != text) abort();
  return 0;
}
