// Text to ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage.h"

namespace ingot {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  virtual int32_t bos() const = 0;                                       // -1: none
  virtual int32_t eos() const = 0;                                       // -1: none
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;  // no BOS or EOS added
  // Bytes of one id; special tokens give none. decode() of a whole sequence is the concatenation,
  // except that a format which marks word starts drops the first space after BOS.
  virtual std::string decode(int32_t id) const = 0;
  virtual std::string decode(const std::vector<int32_t>& ids) const;
  virtual std::string kind() const = 0;       // "byte", "llama2c"
  virtual std::string serialize() const = 0;  // file contents that load_tokenizer() reads back
};

// Ids 0–255 are bytes, 256 separates documents (it is BOS and EOS). decode(encode(x)) == x for any
// bytes.
std::unique_ptr<Tokenizer> byte_tokenizer();

// llama2.c's tokenizer.bin: int32 longest piece, then per id float32 score, int32 length, bytes.
// The vocabulary ends with the file. Throws ErrorCode::Data on anything that does not parse.
std::unique_ptr<Tokenizer> parse_llama2c_tokenizer(std::string_view file, std::string_view origin);

// "byte", or a path whose contents tell the format.
std::unique_ptr<Tokenizer> load_tokenizer(Storage& storage, const std::string& name_or_path);

}  // namespace ingot
