#include "tokenizer/byte_tokenizer.h"

#include "core/error.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

constexpr int32_t kBos = 256;
constexpr int32_t kEos = 257;
constexpr int32_t kVocabSize = 258;

class ByteTokenizer final : public Tokenizer {
 public:
  using Tokenizer::decode;

  int64_t vocab_size() const override { return kVocabSize; }
  int32_t bos() const override { return kBos; }
  int32_t eos() const override { return kEos; }
  std::string kind() const override { return "byte"; }
  std::string serialize() const override { return std::string(kByteTokenizerFile); }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids(text.size());
    for (size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
    return ids;
  }

  std::string decode(int32_t id) const override {
    check(id >= 0 && id < kVocabSize, ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the byte tokenizer", id, kVocabSize);
    if (id >= kBos) return {};
    return std::string(1, static_cast<char>(id));
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace ingot
