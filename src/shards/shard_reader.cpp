#include "shards/shard_reader.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/error/error.h"
#include "shards/shard_writer.h"

namespace ingot {
namespace {

// More than the longest names take, each byte escaped and a source before them, is damage.
constexpr size_t kMaxFrameBytes = static_cast<size_t>(kNamesPerFrame) * (2 * kMaxNameBytes + 32);

void check_size(const MappedFile& file, int64_t expected) {
  const auto size = static_cast<int64_t>(file.bytes().size());
  check(size == expected, ErrorCode::Data,
        "{}: {}: its manifest says {} bytes, got {}; the file changed after it was written",
        file.path(), size < expected ? "truncated" : "too long", expected, size);
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    if (escaped) ++i;
    plain += escaped && text[i] == 'n' ? '\n' : text[i];
  }
  return plain;
}

template <class Id>
uint32_t widen(const char* from, std::span<int32_t> out) {
  uint32_t largest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    Id id;
    std::memcpy(&id, from + i * sizeof(Id), sizeof(Id));
    largest = std::max<uint32_t>(largest, id);
    out[i] = static_cast<int32_t>(id);
  }
  return largest;
}

}  // namespace

ShardReader::ShardReader(const std::string& folder, const ShardManifest& manifest, size_t shard)
    : path_(join_path(folder, manifest.shards.at(shard).name)),
      tokens_(path_ + ".tokens"),
      documents_(path_ + ".documents"),
      names_(path_ + ".names"),
      num_tokens_(manifest.shards[shard].num_tokens),
      token_bytes_(manifest.token_bytes),
      vocab_size_(manifest.vocab_size),
      num_sources_(static_cast<int64_t>(manifest.sources.size())),
      bos_(manifest.bos),
      eos_(manifest.eos) {
  const int64_t num_documents = manifest.shards[shard].num_documents;
  check_size(tokens_, num_tokens_ * token_bytes_);
  check_size(documents_, num_documents * static_cast<int64_t>(sizeof(DocumentRecord)));
  // A mapping begins at a page, so the records are aligned.
  records_ = {reinterpret_cast<const DocumentRecord*>(documents_.bytes().data()),
              static_cast<size_t>(num_documents)};
  check(document_end(num_documents - 1) == num_tokens_, ErrorCode::Data,
        "{}: the last document ends at {}, expected {}, the number of tokens", documents_.path(),
        document_end(num_documents - 1), num_tokens_);
  if (manifest.shards[shard].hashes_hash)
    hashes_ = std::make_unique<ShardHashes>(path_ + ".hashes", manifest.shards[shard], tokens_,
                                            static_cast<size_t>(token_bytes_), documents_);
}

void ShardReader::tokens(int64_t begin, std::span<int32_t> out) const {
  const auto count = static_cast<int64_t>(out.size());
  check(begin >= 0 && count <= num_tokens_ && begin <= num_tokens_ - count, ErrorCode::Data,
        "{}: no tokens [{}, {}): there are {}", tokens_.path(), begin, begin + count, num_tokens_);
  if (count == 0) return;
  if (hashes_)
    hashes_->check_tokens(static_cast<size_t>(begin * token_bytes_),
                          static_cast<size_t>((begin + count) * token_bytes_));
  const char* from = tokens_.bytes().data() + begin * token_bytes_;
  const uint32_t largest =
      token_bytes_ == 2 ? widen<uint16_t>(from, out) : widen<uint32_t>(from, out);
  if (largest >= vocab_size_) [[unlikely]] {
    const auto wrong = std::find_if(out.begin(), out.end(), [&](int32_t id) {
      return static_cast<uint32_t>(id) >= vocab_size_;
    });
    throw Error(
        ErrorCode::Data,
        fmt::format("{}: token {} is id {}, expected below the vocabulary of {}", tokens_.path(),
                    begin + (wrong - out.begin()), static_cast<uint32_t>(*wrong), vocab_size_));
  }
}

void ShardReader::release_tokens(int64_t begin, int64_t end) const {
  tokens_.release(static_cast<size_t>(begin * token_bytes_),
                  static_cast<size_t>(end * token_bytes_));
}

const DocumentRecord& ShardReader::record(int64_t document) const {
  check(document >= 0 && document < num_documents(), ErrorCode::Internal,
        "{}: no document {}: there are {}", path_, document, num_documents());
  const size_t at = static_cast<size_t>(document) * sizeof(DocumentRecord);
  if (hashes_) hashes_->check_documents(at, at + sizeof(DocumentRecord));
  return records_[static_cast<size_t>(document)];
}

int64_t ShardReader::document_of(int64_t position) const {
  check(position >= 0 && position < num_tokens_, ErrorCode::Internal,
        "{}: no token {}: there are {}", path_, position, num_tokens_);
  const auto found =
      std::upper_bound(records_.begin(), records_.end(), static_cast<uint64_t>(position),
                       [](uint64_t at, const DocumentRecord& record) { return at < record.end; });
  const auto document = std::min<int64_t>(found - records_.begin(), num_documents() - 1);
  // The search compared nothing with its hash: what it found is right where these two are.
  if (hashes_ && (document_begin(document) > position || document_end(document) <= position))
    hashes_->check_documents(0, documents_.bytes().size());
  return document;
}

int64_t ShardReader::document_begin(int64_t document) const {
  return document == 0 ? 0 : document_end(document - 1);
}

int64_t ShardReader::document_end(int64_t document) const {
  const uint64_t end = record(document).end;
  check(end <= static_cast<uint64_t>(num_tokens_), ErrorCode::Data,
        "{}: document {} ends at {}, beyond the {} tokens; the file changed after it was written",
        documents_.path(), document, end, num_tokens_);
  return static_cast<int64_t>(end);
}

ContentId ShardReader::content(int64_t document) const {
  check(document >= 0 && document < num_documents(), ErrorCode::Internal,
        "{}: no document {}: there are {}", path_, document, num_documents());
  if (hashes_) return hashes_->content(document);
  return content_of(document_begin(document), document_end(document), bos_, eos_,
                    [&](int64_t begin, std::span<int32_t> out) { tokens(begin, out); });
}

DocumentName ShardReader::name(int64_t document) const {
  record(document);  // is there one?
  const auto frame = static_cast<size_t>(document / kNamesPerFrame);
  const std::lock_guard lock(mutex_);
  if (frame != decoded_frame_) decode_frame(frame);
  return decoded_[static_cast<size_t>(document % kNamesPerFrame)];
}

void ShardReader::find_frames() const {
  const std::string_view bytes = names_.bytes();
  std::vector<size_t> frames;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = ZSTD_findFrameCompressedSize(bytes.data() + at, bytes.size() - at);
    check(!ZSTD_isError(size) && size > 0, ErrorCode::Data,
          "{}: damaged at byte {}: expected a zstd frame ({})", names_.path(), at,
          ZSTD_getErrorName(size));
    frames.push_back(at);
    at += size;
  }
  const int64_t expected = (num_documents() + kNamesPerFrame - 1) / kNamesPerFrame;
  check(static_cast<int64_t>(frames.size()) == expected, ErrorCode::Data,
        "{}: expected {} frames of names, got {}", names_.path(), expected, frames.size());
  frames.push_back(bytes.size());
  frames_ = std::move(frames);
}

void ShardReader::decode_frame(size_t frame) const {
  if (frames_.empty()) find_frames();
  const std::string_view packed =
      names_.bytes().substr(frames_[frame], frames_[frame + 1] - frames_[frame]);
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  check(size <= kMaxFrameBytes, ErrorCode::Data, "{}: frame {} of names does not say its size",
        names_.path(), frame);
  std::string text(size, '\0');
  const size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  check(!ZSTD_isError(got) && got == text.size(), ErrorCode::Data,
        "{}: frame {} of names is damaged ({})", names_.path(), frame, ZSTD_getErrorName(got));

  const int64_t first = static_cast<int64_t>(frame) * kNamesPerFrame;
  const int64_t count = std::min(kNamesPerFrame, num_documents() - first);
  std::vector<DocumentName> names;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end);
    DocumentName& name = names.emplace_back();
    const auto [tab, error] = std::from_chars(line.data(), line.data() + line.size(), name.source);
    check(error == std::errc() && tab != line.data() + line.size() && *tab == '\t' &&
              name.source >= 0 && name.source < num_sources_,
          ErrorCode::Data, "{}: document {}: expected a source below {}, a tab and an id",
          names_.path(), first + static_cast<int64_t>(names.size()) - 1, num_sources_);
    name.id = unescape(line.substr(static_cast<size_t>(tab + 1 - line.data())));
    rest.remove_prefix(end + 1);
  }
  check(static_cast<int64_t>(names.size()) == count, ErrorCode::Data,
        "{}: frame {}: expected {} names, got {}", names_.path(), frame, count, names.size());
  decoded_ = std::move(names);
  decoded_frame_ = frame;
}

void ShardReader::check_hashes(const ShardFile& expected) const {
  const auto compare = [](const MappedFile& file, uint64_t hash) {
    // In parts, so that a shard of any size passes through a bounded resident set.
    constexpr size_t kPart = size_t{16} << 20;
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                &XXH3_freeState);
    XXH3_64bits_reset(state.get());
    for (size_t at = 0; at < file.bytes().size(); at += kPart) {
      const std::string_view part = file.bytes().substr(at, kPart);
      XXH3_64bits_update(state.get(), part.data(), part.size());
      file.release(at, at + part.size());
    }
    const uint64_t got = XXH3_64bits_digest(state.get());
    check(got == hash, ErrorCode::Data,
          "{}: the file changed after it was written: its manifest says hash {:016x}, got {:016x}",
          file.path(), hash, got);
  };
  compare(tokens_, expected.tokens_hash);
  compare(documents_, expected.documents_hash);
  compare(names_, expected.names_hash);
  if (hashes_) hashes_->check_all();
}

}  // namespace ingot
