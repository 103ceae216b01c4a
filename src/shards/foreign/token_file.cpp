#include "shards/foreign/token_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "core/error/error.h"
#include "core/storage/mapped_file.h"
#include "core/tensor/dtype.h"
#include "core/text/format.h"

namespace ingot {
namespace {

constexpr size_t kHeaderBytes = 256 * sizeof(int32_t);

struct HeaderKind {
  int32_t magic;
  int32_t version;
  DType dtype;
};
constexpr std::array kHeaderKinds{HeaderKind{20240520, 1, DType::U16},   // GPT-2 vocabulary
                                  HeaderKind{20240801, 7, DType::U32}};  // Llama 3 vocabulary

// Where the ids lie in the file and how wide they are.
struct Layout {
  size_t offset = 0;
  DType dtype = DType::U16;
  bool guessed = false;  // nothing in or beside the file says it
};

void check_whole_ids(const MappedFile& file, DType dtype) {
  const auto width = static_cast<size_t>(size_of(dtype));
  check(file.bytes().size() % width == 0, ErrorCode::Data,
        "{}: truncated or of another dtype: expected a multiple of {} bytes ({} ids), got {}",
        file.path(), width, name_of(dtype), file.bytes().size());
}

Layout read_layout(const MappedFile& file, TokenDType dtype) {
  const std::string_view bytes = file.bytes();
  const DType wanted = dtype == TokenDType::U32 ? DType::U32 : DType::U16;
  std::array<int32_t, 3> header{};  // magic, version, count
  std::memcpy(header.data(), bytes.data(), std::min(bytes.size(), sizeof(header)));
  const auto kind = std::find_if(kHeaderKinds.begin(), kHeaderKinds.end(),
                                 [&](const HeaderKind& k) { return k.magic == header[0]; });
  if (kind == kHeaderKinds.end()) {
    check_whole_ids(file, wanted);
    return {0, wanted, /*guessed=*/true};
  }
  check(bytes.size() >= kHeaderBytes, ErrorCode::Data,
        "{}: truncated: expected a header of {} bytes, got {}", file.path(), kHeaderBytes,
        bytes.size());
  check(header[1] == kind->version, ErrorCode::Data,
        "{}: llm.c header with magic {}: expected version {}, got {}", file.path(), kind->magic,
        kind->version, header[1]);
  check(dtype == TokenDType::Auto || wanted == kind->dtype, ErrorCode::Data,
        "{}: the file's header says {} ids, the token dtype is set to {}; set it to auto",
        file.path(), name_of(kind->dtype), name_of(wanted));
  const int64_t expected = int64_t{kHeaderBytes} + int64_t{header[2]} * size_of(kind->dtype);
  check(header[2] > 0, ErrorCode::Data, "{}: the header says {} tokens; expected at least one",
        file.path(), header[2]);
  check(static_cast<int64_t>(bytes.size()) == expected, ErrorCode::Data,
        "{}: {}: the header says {} tokens, expected {} bytes, got {}", file.path(),
        static_cast<int64_t>(bytes.size()) < expected ? "truncated" : "too long", header[2],
        expected, bytes.size());
  return {kHeaderBytes, kind->dtype};
}

class TokenFile final : public TokenSource {
 public:
  TokenFile(MappedFile file, const Layout& layout, int64_t vocab)
      : file_(std::move(file)), vocab_(vocab), layout_(layout) {
    width_ = size_of(layout_.dtype);
    num_tokens_ = (static_cast<int64_t>(file_.bytes().size() - layout_.offset)) / width_;
    resident_ = static_cast<int64_t>(file_.bytes().size()) <= kResidentBytes;
    check_at_open();
  }

  int64_t num_tokens() const override { return num_tokens_; }
  int64_t num_bytes(int64_t, int64_t) const override { return -1; }
  int64_t num_documents() const override { return 1; }
  int64_t document_begin(int64_t document) const override {
    return document == 0 ? 0 : num_tokens_;
  }
  int64_t document_at(int64_t) const override { return 0; }
  std::string document_name(int64_t) const override { return file_.path(); }
  uint64_t content_hash() const override {
    return file_.content_hash() ^ static_cast<uint64_t>(width_);
  }

  void read(int64_t begin, std::span<int32_t> out) const override {
    const auto count = static_cast<int64_t>(out.size());
    check(begin >= 0 && begin + count <= num_tokens_, ErrorCode::Internal,
          "{}: tokens [{}, {}) of {}", file_.path(), begin, begin + count, num_tokens_);
    if (layout_.dtype == DType::U16) {
      widen<uint16_t>(begin, out);
    } else {
      widen<uint32_t>(begin, out);
    }
    if (!resident_) file_.release(offset_of(begin), offset_of(begin + count));
  }

  std::string describe() const override {
    return fmt::format("token file {}, {}, {} tokens ({})",
                       std::filesystem::path(file_.path()).filename().string(),
                       format_bytes(static_cast<int64_t>(file_.bytes().size())),
                       format_count(num_tokens_), name_of(layout_.dtype));
  }

 private:
  static constexpr int64_t kChunk = 4096;  // tokens

  size_t offset_of(int64_t token) const {
    return layout_.offset + static_cast<size_t>(token * width_);
  }

  template <class Id>
  void widen(int64_t begin, std::span<int32_t> out) const {
    const char* from = file_.bytes().data() + offset_of(begin);
    uint32_t largest = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      Id id;  // a header keeps alignment, but nothing promises that a mapping does
      std::memcpy(&id, from + i * sizeof(Id), sizeof(Id));
      largest = std::max<uint32_t>(largest, id);
      out[i] = static_cast<int32_t>(id);
    }
    if (largest >= vocab_) [[unlikely]]
      throw_outside_vocabulary<Id>(begin, from, out.size());
  }

  template <class Id>
  [[noreturn]] void throw_outside_vocabulary(int64_t begin, const char* from, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      Id id;
      std::memcpy(&id, from + i * sizeof(Id), sizeof(Id));
      check(id < vocab_, ErrorCode::Data,
            "{}: token {} is id {}, expected below the vocabulary of {}; if these are not {} ids, "
            "set the token dtype",
            file_.path(), begin + static_cast<int64_t>(i), id, vocab_, name_of(layout_.dtype));
    }
    throw Error(ErrorCode::Data, file_.path() + ": the file changed while it was read");
  }

  // Reads all of a small file and 64 places of a large one. Ids outside the vocabulary throw in
  // read(). What read() cannot see is u32 taken for u16: low and high halves are both in range, so
  // it shows only in that no odd position holds more than a high half can.
  void check_at_open() const {
    const int64_t num_chunks = (num_tokens_ + kChunk - 1) / kChunk;
    const int64_t stride = resident_ ? 1 : num_chunks / 64;
    const int64_t largest_high_half = (vocab_ - 1) >> 16;
    int64_t even_max = 0, odd_max = 0, num_read = 0;
    std::array<int32_t, kChunk> buffer;
    for (int64_t chunk = 0; chunk < num_chunks; chunk += stride) {
      const int64_t begin = chunk * kChunk;
      const auto ids =
          std::span(buffer).first(static_cast<size_t>(std::min(kChunk, num_tokens_ - begin)));
      read(begin, ids);
      for (size_t i = 0; i < ids.size(); ++i) {
        int64_t& largest = i % 2 == 0 ? even_max : odd_max;
        largest = std::max<int64_t>(largest, ids[i]);
      }
      num_read += static_cast<int64_t>(ids.size());
    }
    const bool looks_u32 = layout_.dtype == DType::U16 && layout_.guessed && num_read >= 32 &&
                           odd_max <= largest_high_half && even_max > largest_high_half;
    check(!looks_u32, ErrorCode::Data,
          "{}: every second id is at most {}, as when u32 ids are read as u16; set the token dtype "
          "to u32",
          file_.path(), largest_high_half);
  }

  MappedFile file_;
  int64_t vocab_;
  Layout layout_;
  int64_t width_ = 0;  // bytes per id
  int64_t num_tokens_ = 0;
  bool resident_ = true;
};

}  // namespace

std::unique_ptr<TokenSource> open_token_file(const std::string& path, TokenDType dtype,
                                             int64_t vocab) {
  MappedFile file(path);
  const Layout layout = read_layout(file, dtype);
  return std::make_unique<TokenFile>(std::move(file), layout, vocab);
}

std::unique_ptr<TokenSource> open_raw_tokens(const std::string& path, DType dtype, int64_t vocab) {
  MappedFile file(path);
  check_whole_ids(file, dtype);
  return std::make_unique<TokenFile>(std::move(file), Layout{0, dtype}, vocab);
}

}  // namespace ingot
