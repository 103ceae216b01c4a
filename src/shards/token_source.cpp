#include "shards/token_source.h"

#include <xxhash.h>

#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "core/text/format.h"

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
  // The first and the last document may be cut.
  int64_t num_documents() const override {
    return begin_ == end_ ? 0 : source_.document_at(end_ - 1) - first_document() + 1;
  }
  int64_t document_begin(int64_t document) const override {
    if (document == 0) return 0;
    return std::min(end_, source_.document_begin(first_document() + document)) - begin_;
  }
  int64_t document_at(int64_t position) const override {
    return source_.document_at(begin_ + position) - first_document();
  }
  std::string document_name(int64_t document) const override {
    return source_.document_name(first_document() + document);
  }
  std::optional<int64_t> find_document(std::string_view name) const override {
    const auto found = source_.find_document(name);
    if (!found || *found < first_document() || *found >= first_document() + num_documents())
      return std::nullopt;
    return *found - first_document();
  }
  // A document that is cut is another.
  std::optional<ContentId> content(int64_t document) const override {
    const int64_t whole = first_document() + document;
    if (source_.document_begin(whole) < begin_ || source_.document_begin(whole + 1) > end_)
      return std::nullopt;
    return source_.content(whole);
  }
  int64_t content_cost() const override { return std::min(source_.content_cost(), num_tokens()); }
  Origins origins() const override {
    Origins origins = source_.origins();
    if (!origins.names.empty()) {
      const auto first = origins.of_document.begin() + first_document();
      origins.of_document = {first, first + num_documents()};
    }
    return origins;
  }
  uint64_t content_hash() const override {
    const std::array<uint64_t, 3> facts{source_.content_hash(), static_cast<uint64_t>(begin_),
                                        static_cast<uint64_t>(end_)};
    return XXH3_64bits(facts.data(), sizeof(facts));
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

  int64_t first_document() const { return source_.document_at(begin_); }

  const TokenSource& source_;
  int64_t begin_;
  int64_t end_;
};

}  // namespace

std::optional<int64_t> TokenSource::find_document(std::string_view name) const {
  for (int64_t document = 0; document < num_documents(); ++document)
    if (document_name(document) == name) return document;
  return std::nullopt;
}

std::unique_ptr<TokenSource> subrange(const TokenSource& source, int64_t begin, int64_t end) {
  return std::make_unique<Subrange>(source, begin, end);
}

}  // namespace ingot
