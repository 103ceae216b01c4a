#include "shards/foreign/megatron_file.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "core/error/error.h"
#include "core/storage/mapped_file.h"
#include "core/text/format.h"
#include "shards/foreign/token_file.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr size_t kHeaderBytes = 34;

std::string index_path(const std::string& bin_path) {
  return bin_path.substr(0, bin_path.size() - 4) + ".idx";
}

// The mapped index. After the header nothing is aligned, so values are copied out.
class Index {
 public:
  explicit Index(const std::string& path) : file_(path) {
    const size_t size = file_.bytes().size();
    check(size >= kHeaderBytes && file_.bytes().starts_with(kMagic), ErrorCode::Data,
          "{}: not a Megatron index: expected a header of {} bytes, got a file of {}", path,
          kHeaderBytes, size);
    const auto version = value<uint64_t>(9);
    check(version == 1, ErrorCode::Data, "{}: expected index version 1, got {}", path, version);
    const auto sequences = value<uint64_t>(18), document_ends = value<uint64_t>(26);
    // Modes, a byte a sequence, may follow. Counts are compared before they are multiplied.
    const bool plausible = sequences <= size && document_ends <= size && document_ends > 0;
    const uint64_t expected = kHeaderBytes + sequences * 12 + document_ends * 8;
    check(plausible && (size == expected || size == expected + sequences), ErrorCode::Data,
          "{}: truncated or damaged: {} sequences and {} documents, but {} bytes", path, sequences,
          document_ends - 1, size);
    num_sequences_ = static_cast<int64_t>(sequences);
    num_documents_ = static_cast<int64_t>(document_ends) - 1;
  }

  const MappedFile& file() const { return file_; }
  int64_t num_sequences() const { return num_sequences_; }
  int64_t num_documents() const { return num_documents_; }
  int64_t length(int64_t sequence) const {  // tokens
    return value<int32_t>(kHeaderBytes + static_cast<size_t>(sequence) * 4);
  }
  int64_t pointer(int64_t sequence) const {  // bytes
    return value<int64_t>(kHeaderBytes + static_cast<size_t>(num_sequences_ * 4 + sequence * 8));
  }
  int64_t first_sequence(int64_t document) const {  // of num_documents(): the end
    return value<int64_t>(kHeaderBytes + static_cast<size_t>(num_sequences_ * 12 + document * 8));
  }

  DType dtype() const {
    const auto code = value<uint8_t>(17);
    switch (code) {
      case 8:
        return DType::U16;
      case 4:  // int32; negative ids turn into ids beyond any vocabulary
        return DType::U32;
      default:
        throw Error(ErrorCode::Data,
                    fmt::format("{}: ids of dtype code {}: expected 8 (uint16) or 4 (int32)",
                                file_.path(), code));
    }
  }

 private:
  template <class T>
  T value(size_t offset) const {
    T result;
    std::memcpy(&result, file_.bytes().data() + offset, sizeof(T));
    return result;
  }

  MappedFile file_;
  int64_t num_sequences_ = 0;
  int64_t num_documents_ = 0;
};

class MegatronFile final : public TokenSource {
 public:
  MegatronFile(const std::string& bin_path, int64_t vocab, int32_t bos, int32_t eos)
      : bos_(bos),
        eos_(eos),
        index_(index_path(bin_path)),
        width_(size_of(index_.dtype())),
        tokens_(open_raw_tokens(bin_path, index_.dtype(), vocab)) {
    check_sequences();
    check_documents();
  }

  int64_t num_tokens() const override { return tokens_->num_tokens(); }
  int64_t num_bytes(int64_t, int64_t) const override { return -1; }
  void read(int64_t begin, std::span<int32_t> out) const override { tokens_->read(begin, out); }

  int64_t num_documents() const override { return index_.num_documents(); }
  int64_t document_begin(int64_t document) const override {
    const int64_t sequence = index_.first_sequence(document);
    return sequence == index_.num_sequences() ? num_tokens() : index_.pointer(sequence) / width_;
  }
  int64_t document_at(int64_t position) const override {
    int64_t first = 0, beyond = num_documents();  // the last document that begins at or before it
    while (first + 1 < beyond) {
      const int64_t middle = first + (beyond - first) / 2;
      (document_begin(middle) <= position ? first : beyond) = middle;
    }
    return first;
  }
  std::string document_name(int64_t document) const override {
    return fmt::format("{}:{}", tokens_->document_name(0), document);
  }
  std::optional<ContentId> content(int64_t document) const override {
    return content_of(document_begin(document), document_begin(document + 1), bos_, eos_,
                      [&](int64_t begin, std::span<int32_t> out) { read(begin, out); });
  }
  int64_t content_cost() const override { return num_tokens(); }
  uint64_t content_hash() const override {
    const std::array<uint64_t, 2> facts{tokens_->content_hash(), index_.file().content_hash()};
    return XXH3_64bits(facts.data(), sizeof(facts));
  }
  std::string describe() const override {
    return fmt::format("{}, {} documents", tokens_->describe(), format_count(num_documents()));
  }

 private:
  void check_sequences() const {
    int64_t end = 0;  // bytes
    for (int64_t i = 0; i < index_.num_sequences(); ++i) {
      check(index_.pointer(i) == end && index_.length(i) >= 0, ErrorCode::Data,
            "{}: sequence {}: expected to begin at byte {}, got byte {} and {} tokens",
            index_.file().path(), i, end, index_.pointer(i), index_.length(i));
      end += index_.length(i) * width_;
    }
    check(end == num_tokens() * width_, ErrorCode::Data,
          "{}: it describes {} bytes of tokens, the .bin file beside it holds {}: they do not "
          "belong together",
          index_.file().path(), end, num_tokens() * width_);
  }

  void check_documents() const {
    int64_t before = 0;
    for (int64_t d = 0; d <= num_documents(); ++d) {
      const int64_t sequence = index_.first_sequence(d);
      const bool is_end = d == num_documents();
      check(sequence >= before && sequence <= index_.num_sequences() && (d > 0 || sequence == 0) &&
                (!is_end || sequence == index_.num_sequences()),
            ErrorCode::Data, "{}: document {} begins at sequence {} of {}", index_.file().path(), d,
            sequence, index_.num_sequences());
      before = sequence;
    }
  }

  int32_t bos_, eos_;
  Index index_;
  int64_t width_;  // bytes per id
  std::unique_ptr<TokenSource> tokens_;
};

}  // namespace

bool has_megatron_index(const std::string& bin_path) {
  std::error_code error;
  return bin_path.ends_with(".bin") && std::filesystem::exists(index_path(bin_path), error);
}

std::unique_ptr<TokenSource> open_megatron_file(const std::string& bin_path, int64_t vocab,
                                                int32_t bos, int32_t eos) {
  return std::make_unique<MegatronFile>(bin_path, vocab, bos, eos);
}

}  // namespace ingot
