#include "feed/open_source.h"

#include "core/error/error.h"
#include "feed/shard_source.h"
#include "feed/text_source.h"
#include "shards/foreign/megatron_file.h"
#include "shards/foreign/token_file.h"

namespace ingot {

bool holds_tokens(const std::string& path) {
  return is_shard_folder(path) || path.ends_with(".bin");
}

std::unique_ptr<TokenSource> open_token_source(const std::string& path, const Tokenizer& tokenizer,
                                               TokenDType token_dtype, int64_t vocab,
                                               const TextChoice& text) {
  if (is_shard_folder(path)) return open_shards(path, tokenizer);
  if (has_megatron_index(path))
    return open_megatron_file(path, vocab, tokenizer.bos(), tokenizer.eos());
  if (path.ends_with(".bin")) return open_token_file(path, token_dtype, vocab);
  return open_text(path, tokenizer, text);
}

}  // namespace ingot
