#include "tokenizer/vocabulary.h"

#include "core/error/log.h"

namespace ingot {

void check_vocabulary(const Tokenizer& tokenizer, int64_t vocab, ErrorCode code,
                      std::string_view advice) {
  check(tokenizer.vocab_size() <= vocab, code,
        "model.vocab is {}, but the {} tokenizer has {} ids: {}", vocab, tokenizer.kind(),
        tokenizer.vocab_size(), advice);
  log::debug("vocabulary_checked", {{"ids", std::to_string(tokenizer.vocab_size())}});
}

}  // namespace ingot
