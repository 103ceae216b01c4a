#include "data/serve/token_source.h"

#include <algorithm>

#include "core/error.h"
#include "data/serve/format.h"
#include "data/serve/text_source.h"
#include "data/serve/token_file.h"

namespace ingot {
namespace {

class Subrange final : public TokenSource {
 public:
  Subrange(const TokenSource& source, int64_t begin, int64_t end)
      : source_(source), begin_(begin), end_(end) {
    check(begin >= 0 && begin <= end && end <= source.num_tokens(), ErrorCode::Internal,
          "subrange: tokens [{}, {}) of {}", begin, end, source.num_tokens());
  }

  int64_t num_tokens() const override { return end_ - begin_; }
  int64_t num_bytes(int64_t begin, int64_t end) const override {
    check_range(begin, end);
    return source_.num_bytes(begin_ + begin, begin_ + end);
  }
  void read(int64_t begin, std::span<int32_t> out) const override {
    check_range(begin, begin + static_cast<int64_t>(out.size()));
    source_.read(begin_ + begin, out);
  }
  int64_t document_start(int64_t position) const override {
    return std::max<int64_t>(0, source_.document_start(begin_ + position) - begin_);
  }
  std::string describe() const override {
    return fmt::format("tokens {} to {} of {}", format_count(begin_), format_count(end_),
                       source_.describe());
  }

 private:
  void check_range(int64_t begin, int64_t end) const {
    check(begin >= 0 && begin <= end && end <= num_tokens(), ErrorCode::Internal,
          "subrange: tokens [{}, {}) of {}", begin, end, num_tokens());
  }

  const TokenSource& source_;
  int64_t begin_;
  int64_t end_;
};

}  // namespace

std::unique_ptr<TokenSource> open_token_source(const std::string& path, const Tokenizer& tokenizer,
                                               const std::string& token_dtype, int64_t vocab) {
  if (path.ends_with(".bin")) return open_token_file(path, token_dtype, vocab);
  check(tokenizer.vocab_size() <= vocab, ErrorCode::Config,
        "{}: the {} tokenizer has {} ids, the model's vocabulary only {}; raise it", path,
        tokenizer.kind(), tokenizer.vocab_size(), vocab);
  return open_text(path, tokenizer);
}

std::unique_ptr<TokenSource> subrange(const TokenSource& source, int64_t begin, int64_t end) {
  return std::make_unique<Subrange>(source, begin, end);
}

}  // namespace ingot
