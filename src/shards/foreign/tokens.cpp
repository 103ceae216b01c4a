#include "shards/foreign/tokens.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/error/error.h"
#include "core/storage/mapped_file.h"
#include "core/storage/storage.h"
#include "shards/foreign/megatron_file.h"
#include "shards/foreign/token_file.h"

namespace ingot {
namespace {

constexpr int64_t kTokensAtOnce = int64_t{1} << 16;

// Tokens [begin, end) in parts, the last of them marked.
template <class F>
void read_parts(const TokenSource& tokens, int64_t begin, int64_t end, const F& part) {
  std::vector<int32_t> ids;
  for (int64_t at = begin; at < end;) {
    ids.resize(static_cast<size_t>(std::min(kTokensAtOnce, end - at)));
    tokens.read(at, ids);
    at += static_cast<int64_t>(ids.size());
    part(std::span<const int32_t>(ids), at == end);
  }
  if (begin == end) part(std::span<const int32_t>(), true);
}

void read_edges(const TokenSource& tokens, int64_t begin, int64_t end,
                const ForeignTokens::OnEdges& edges) {
  if (begin == end) return;
  int32_t first = 0, last = 0;
  tokens.read(begin, {&first, 1});
  tokens.read(end - 1, {&last, 1});
  edges(first, last);
}

// Formats whose documents are found by the ids that begin or end them.
class MarkedTokens final : public ForeignTokens {
 public:
  MarkedTokens(ForeignFormat format, std::unique_ptr<TokenSource> tokens, DocumentMarks marks)
      : format_(format), tokens_(std::move(tokens)), marks_(marks) {}

  ForeignFormat format() const override { return format_; }
  void each_document(const OnPart& part) const override {
    bool open = false;  // a document was begun
    read_parts(*tokens_, 0, tokens_->num_tokens(), [&](std::span<const int32_t> ids, bool last) {
      size_t begin = 0;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] == marks_.bos && (open || i > begin)) {  // it ends the one before
          part(ids.subspan(begin, i - begin), true);
          begin = i;
          open = false;
        }
        if (ids[i] == marks_.eos) {
          part(ids.subspan(begin, i + 1 - begin), true);
          begin = i + 1;
          open = false;
        }
      }
      if (begin == ids.size()) return;
      part(ids.subspan(begin), last);
      open = true;
    });
  }

 private:
  ForeignFormat format_;
  std::unique_ptr<TokenSource> tokens_;
  DocumentMarks marks_;
};

class MegatronTokens final : public ForeignTokens {
 public:
  explicit MegatronTokens(std::unique_ptr<TokenSource> tokens) : tokens_(std::move(tokens)) {}

  ForeignFormat format() const override { return ForeignFormat::Megatron; }
  void each_document(const OnPart& part) const override {
    for (int64_t i = 0; i < tokens_->num_documents(); ++i) {
      read_parts(*tokens_, tokens_->document_begin(i), tokens_->document_begin(i + 1), part);
    }
  }
  void each_edges(const OnEdges& edges) const override {
    for (int64_t i = 0; i < tokens_->num_documents(); ++i) {
      read_edges(*tokens_, tokens_->document_begin(i), tokens_->document_begin(i + 1), edges);
    }
  }

 private:
  std::unique_ptr<TokenSource> tokens_;
};

// Ends of documents, u64, in the index.
class DatatroveTokens final : public ForeignTokens {
 public:
  DatatroveTokens(const std::string& path, int64_t vocab) : index_(path + ".index") {
    const std::string_view ends = index_.bytes();
    check(!ends.empty() && ends.size() % sizeof(uint64_t) == 0, ErrorCode::Data,
          "{}: truncated: expected a multiple of 8 bytes above 0, got {}", index_.path(),
          ends.size());
    const uint64_t count = end_at(ends.size() - sizeof(uint64_t));
    const uint64_t bytes = MappedFile(path).bytes().size();
    const bool is_u16 = count <= bytes && 2 * count == bytes;
    check(is_u16 || (count <= bytes && 4 * count == bytes), ErrorCode::Data,
          "{}: truncated or changed: its index says {} ids, which are not {} bytes as u16 or u32",
          path, count, bytes);
    tokens_ = open_raw_tokens(path, is_u16 ? DType::U16 : DType::U32, vocab);
  }

  ForeignFormat format() const override { return ForeignFormat::Datatrove; }
  void each_document(const OnPart& part) const override {
    each_range([&](int64_t begin, int64_t end) { read_parts(*tokens_, begin, end, part); });
  }
  void each_edges(const OnEdges& edges) const override {
    each_range([&](int64_t begin, int64_t end) { read_edges(*tokens_, begin, end, edges); });
  }

 private:
  template <class F>
  void each_range(const F& range) const {
    const auto count = static_cast<uint64_t>(tokens_->num_tokens());
    uint64_t begin = 0;
    for (size_t at = 0; at < index_.bytes().size(); at += sizeof(uint64_t)) {
      const uint64_t end = end_at(at);
      check(end >= begin && end <= count, ErrorCode::Data,
            "{}: document {} ends at {}: expected from {} to {}", index_.path(),
            at / sizeof(uint64_t), end, begin, count);
      range(static_cast<int64_t>(begin), static_cast<int64_t>(end));
      begin = end;
    }
  }

  uint64_t end_at(size_t offset) const {
    uint64_t end;
    std::memcpy(&end, index_.bytes().data() + offset, sizeof(end));
    return end;
  }

  MappedFile index_;
  std::unique_ptr<TokenSource> tokens_;
};

std::string without(const std::string& path, std::string_view end) {
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

int32_t first_word(const std::string& path) {
  int32_t word = 0;
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&word), sizeof(word));
  return word;
}

bool has_llmc_header(const std::string& path) {
  const int32_t magic = first_word(path);
  check(magic != 20240522, ErrorCode::Data,
        "{}: llm.c's file of evaluation examples: expected one of documents", path);
  return magic == 20240520 || magic == 20240801;
}

ForeignFormat format_of(const std::string& path, const std::string& datatrove,
                        const std::string& bin) {
  if (datatrove.ends_with(".ds")) return ForeignFormat::Datatrove;
  if (path.ends_with(".idx") || has_megatron_index(bin)) return ForeignFormat::Megatron;
  if (has_llmc_header(path)) return ForeignFormat::LlmC;
  throw Error(ErrorCode::Data,
              fmt::format("{}: bare ids, and no {} beside it that says where documents are: if it "
                          "is Megatron's, the .idx is missing; if it is nanoGPT's, say so with "
                          "--format nanogpt",
                          path, file_name(without(bin, ".bin") + ".idx")));
}

}  // namespace

std::string name_of(ForeignFormat format) {
  switch (format) {
    case ForeignFormat::Megatron:
      return "megatron";
    case ForeignFormat::Datatrove:
      return "datatrove";
    case ForeignFormat::LlmC:
      return "llmc";
    case ForeignFormat::NanoGpt:
      return "nanogpt";
  }
  return "unknown";
}

std::unique_ptr<ForeignTokens> open_foreign_tokens(const std::string& path, DocumentMarks marks,
                                                   int64_t vocab,
                                                   std::optional<ForeignFormat> format) {
  const std::string datatrove = without(path, ".index");
  const std::string bin = without(without(path, ".bin"), ".idx") + ".bin";
  if (!format) format = format_of(path, datatrove, bin);
  switch (*format) {
    case ForeignFormat::Datatrove:
      return std::make_unique<DatatroveTokens>(datatrove, vocab);
    case ForeignFormat::Megatron:
      return std::make_unique<MegatronTokens>(open_megatron_file(bin, vocab));
    case ForeignFormat::LlmC:
    case ForeignFormat::NanoGpt:
      break;
  }
  const bool is_llmc = *format == ForeignFormat::LlmC;
  check(!is_llmc || has_llmc_header(path), ErrorCode::Data,
        "{}: not llm.c's: expected its header, got {} as the first word", path, first_word(path));
  return std::make_unique<MarkedTokens>(
      *format, open_token_file(path, is_llmc ? TokenDType::Auto : TokenDType::U16, vocab), marks);
}

}  // namespace ingot
