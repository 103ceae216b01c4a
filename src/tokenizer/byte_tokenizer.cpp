#include "tokenizer/byte_tokenizer.h"

#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

// One id both ends a document and starts the next, as in GPT-2: a model trained on documents that
// are each followed by it has learnt what follows it, so generation may start from it.
constexpr int32_t kSeparator = 256;
constexpr int32_t kVocabSize = 257;

class ByteTokenizer final : public Tokenizer {
 public:
  using Tokenizer::decode;
  using Tokenizer::encode;

  int64_t vocab_size() const override { return kVocabSize; }
  int32_t bos() const override { return kSeparator; }
  int32_t eos() const override { return kSeparator; }
  std::string kind() const override { return "byte"; }
  std::string serialize() const override { return std::string(kByteTokenizerFile); }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    const size_t before = ids.size();
    ids.resize(before + text.size());
    for (size_t i = 0; i < text.size(); ++i) ids[before + i] = static_cast<unsigned char>(text[i]);
  }

  size_t safe_cut(std::string_view text, size_t limit) const override {
    return std::min(text.size(), limit);
  }

  std::string decode(int32_t id) const override {
    check(id >= 0 && id < kVocabSize, ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the byte tokenizer", id, kVocabSize);
    if (id == kSeparator) return {};
    return std::string(1, static_cast<char>(id));
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace ingot
