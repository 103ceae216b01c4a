// The tokenizer interface: text to ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/storage.h"
#include "tokenizer/bpe/split.h"

namespace ingot {

class ThreadPool;

// Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  virtual int32_t bos() const = 0;  // -1: none
  virtual int32_t eos() const = 0;  // -1: none
  // Appends the ids of `text`, any bytes. Adds no BOS or EOS. Text that spells a special token does
  // not become that token: a document must not be able to end itself.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;
  std::vector<int32_t> encode(std::string_view text) const;
  // As encode(), but special tokens in the text become their ids: for prompts.
  virtual void encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const;
  // The same ids as encode(), computed by the pool's threads if the text can be cut.
  virtual void encode_parallel(std::string_view text, ThreadPool& pool,
                               std::vector<int32_t>& ids) const;
  // The last position in (0, limit] where a text that begins with `text` can be cut so that the ids
  // of the parts are those of the whole; 0 if none was found or this kind does not support it.
  virtual size_t safe_cut(std::string_view text, size_t limit) const;
  // The bytes of one id; special tokens give none. decode() of a sequence is their concatenation,
  // except that formats that mark word starts drop the first space after BOS.
  virtual std::string decode(int32_t id) const = 0;
  virtual std::string decode(const std::vector<int32_t>& ids) const;
  virtual std::string kind() const = 0;       // "byte", "llama2c", "bpe", "sentencepiece", …
  virtual std::string serialize() const = 0;  // a file that load_tokenizer() can read
  // Further facts: name and value.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

// Ids 0–255 are bytes, 256 separates documents (it is BOS and EOS). decode(encode(x)) == x for any
// bytes.
std::unique_ptr<Tokenizer> byte_tokenizer();

// llama2.c's tokenizer.bin: int32 longest piece, then per id float32 score, int32 length, bytes.
// The vocabulary extends to the end of the file. Throws ErrorCode::Data if it does not parse.
std::unique_ptr<Tokenizer> parse_llama2c_tokenizer(std::string_view file, std::string_view origin);

struct LoadOptions {
  // The pattern, if the file does not say it (.tiktoken, vocab.json).
  std::optional<Split> split;
};

// "byte", or a path whose contents tell the format: tokenizer.json, .tiktoken, vocab.json (with
// merges.txt beside it), SentencePiece's .model, llama2.c's tokenizer.bin; or a folder with one of
// them. Pattern and special tokens of a .tiktoken file come from NAME.toml beside it
// (bpe/rank_settings.h), else from its name ("cl100k_base.tiktoken") if it has as many ranks as
// that encoding, else with the options' pattern. A tokenizer_config.json beside a tokenizer.json
// names BOS and EOS.
std::unique_ptr<Tokenizer> load_tokenizer(Storage& storage, const std::string& name_or_path,
                                          const LoadOptions& options = {});

// Makes load_tokenizer() store large byte-level BPE tokenizers in this folder of the local disk, so
// that the next run loads them faster (bpe/prepared.h); empty, the default: nowhere. Call it before
// any tokenizer is loaded: not thread-safe.
void keep_tokenizers_in(const std::string& folder);

}  // namespace ingot
