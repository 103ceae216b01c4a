#include "shards/shard_writer.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "core/error/error.h"
#include "ledger/task_folder.h"
#include "shards/shard_hashes.h"

namespace ingot {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kNamesLevel = 3;

// A file written aside, hashed on the way, whole and by chunks.
class HashedFile {
 public:
  HashedFile(Storage& storage, std::string path)
      : storage_(storage),
        path_(std::move(path)),
        file_(storage.create(aside())),
        hash_(XXH3_createState(), &XXH3_freeState) {
    XXH3_64bits_reset(hash_.get());
    buffer_.reserve(kBufferBytes);
  }

  // Where `bytes` more can be written.
  char* grow(size_t bytes) {
    if (buffer_.size() + bytes > kBufferBytes) flush();
    buffer_.resize(buffer_.size() + bytes);
    return buffer_.data() + buffer_.size() - bytes;
  }
  void append(std::string_view bytes) {
    std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }

  // Of the chunks of all that was written so far; none are kept of what comes later.
  std::vector<uint64_t> finish_chunks() {
    flush();
    return chunks_.finish();
  }
  uint64_t sync() {
    flush();
    file_->sync();
    file_->close();
    return XXH3_64bits_digest(hash_.get());
  }
  void rename() { storage_.rename(aside(), path_); }

 private:
  std::string aside() const { return path_ + ".tmp"; }
  void flush() {
    if (buffer_.empty()) return;
    XXH3_64bits_update(hash_.get(), buffer_.data(), buffer_.size());
    chunks_.add({buffer_.data(), buffer_.size()});
    file_->append(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }

  Storage& storage_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash_;
  ChunkHasher chunks_;
  std::vector<char> buffer_;
};

void append_escaped(std::string_view text, std::string& to) {
  for (const char c : text) {
    if (c == '\\' || c == '\n') to += '\\';
    to += c == '\n' ? 'n' : c;
  }
}

// Returns all ids or-ed, which tells whether one did not fit, and which compilers make vector code
// of where the largest would need more than SSE2.
template <class Id>
uint32_t narrow(std::span<const int32_t> ids, char* to) {
  uint32_t bits = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    bits |= static_cast<uint32_t>(ids[i]);
    const auto id = static_cast<Id>(ids[i]);
    std::memcpy(to + i * sizeof(Id), &id, sizeof(Id));
  }
  return bits;
}

}  // namespace

class ShardWriter::Shard {
 public:
  Shard(Storage& storage, const std::string& folder, std::string name,
        const ShardSettings& settings)
      : storage_(storage),
        folder_(folder),
        token_bytes_(static_cast<size_t>(settings.token_bytes)),
        most_(settings.token_bytes == 2 ? UINT16_MAX : INT32_MAX),
        content_(settings.bos, settings.eos),
        tokens_(storage, join_path(folder, name + ".tokens")),
        documents_(storage, join_path(folder, name + ".documents")),
        names_(storage, join_path(folder, name + ".names")),
        hashes_(storage, join_path(folder, name + ".hashes")) {
    file_.name = std::move(name);
  }

  int64_t num_tokens() const { return file_.num_tokens; }
  int64_t document_tokens() const { return file_.num_tokens - document_begin_; }

  void append(std::span<const int32_t> ids) {
    content_.add(ids);
    const size_t most_at_once = kBufferBytes / 4 / token_bytes_;
    while (!ids.empty()) {
      const auto part = ids.first(std::min(ids.size(), most_at_once));
      char* to = tokens_.grow(part.size() * token_bytes_);
      const uint32_t bits =
          token_bytes_ == 2 ? narrow<uint16_t>(part, to) : narrow<uint32_t>(part, to);
      check((bits & ~most_) == 0, ErrorCode::Internal, "an id does not fit into {} bytes",
            token_bytes_);
      file_.num_tokens += static_cast<int64_t>(part.size());
      ids = ids.subspan(part.size());
    }
  }

  void end_document(DocumentId id, int64_t num_bytes, int64_t source, std::string_view name) {
    const DocumentRecord record{static_cast<uint64_t>(file_.num_tokens), id,
                                static_cast<uint64_t>(num_bytes)};
    std::memcpy(documents_.grow(sizeof(record)), &record, sizeof(record));
    const ContentId content = content_.finish();
    std::memcpy(hashes_.grow(sizeof(content)), &content, sizeof(content));
    fmt::format_to(std::back_inserter(names_of_frame_), "{}\t", source);
    append_escaped(name, names_of_frame_);
    names_of_frame_ += '\n';
    document_begin_ = file_.num_tokens;
    if (++file_.num_documents % kNamesPerFrame == 0) end_frame();
  }

  ShardFile finish() {
    if (!names_of_frame_.empty()) end_frame();
    file_.tokens_hash = tokens_.sync();
    file_.documents_hash = documents_.sync();
    file_.names_hash = names_.sync();
    file_.hashes_hash = finish_hashes();
    for (HashedFile* file : {&tokens_, &documents_, &names_, &hashes_}) file->rename();
    storage_.sync_directory(folder_);
    return file_;
  }

 private:
  uint64_t finish_hashes() {
    std::vector<uint64_t> chunks = hashes_.finish_chunks();
    for (HashedFile* file : {&tokens_, &documents_}) {
      const std::vector<uint64_t> more = file->finish_chunks();
      chunks.insert(chunks.end(), more.begin(), more.end());
    }
    constexpr size_t kAtOnce = kBufferBytes / sizeof(uint64_t);
    for (size_t at = 0; at < chunks.size(); at += kAtOnce) {
      const auto part = std::span(chunks).subspan(at).first(std::min(kAtOnce, chunks.size() - at));
      hashes_.append({reinterpret_cast<const char*>(part.data()), part.size_bytes()});
    }
    hashes_.sync();
    return XXH3_64bits(chunks.data(), chunks.size() * sizeof(uint64_t));
  }
  void end_frame() {
    std::string packed(ZSTD_compressBound(names_of_frame_.size()), '\0');
    const size_t size = ZSTD_compress(packed.data(), packed.size(), names_of_frame_.data(),
                                      names_of_frame_.size(), kNamesLevel);
    check(!ZSTD_isError(size), ErrorCode::Internal, "zstd: {}", ZSTD_getErrorName(size));
    packed.resize(size);
    names_.append(packed);
    names_of_frame_.clear();
  }

  Storage& storage_;
  const std::string& folder_;
  const size_t token_bytes_;
  const uint32_t most_;
  ShardFile file_;
  int64_t document_begin_ = 0;
  ContentHasher content_;
  HashedFile tokens_, documents_, names_, hashes_;
  std::string names_of_frame_;
};

int64_t token_bytes_for(int64_t vocab_size) {
  return vocab_size <= int64_t{1} << 16 ? 2 : 4;
}

ShardWriter::ShardWriter(std::shared_ptr<Storage> storage, std::string folder,
                         ShardSettings settings, WrittenShards before)
    : storage_(std::move(storage)),
      folder_(std::move(folder)),
      settings_(std::move(settings)),
      written_(std::move(before)) {
  check(settings_.token_bytes == 2 || settings_.token_bytes == 4, ErrorCode::Internal,
        "ids of {} bytes: expected 2 or 4", settings_.token_bytes);
  check(settings_.shard_tokens > 0, ErrorCode::Config, "tokens of a shard: expected some, got {}",
        settings_.shard_tokens);
  storage_->make_directories(folder_);
}

ShardWriter::~ShardWriter() = default;

void ShardWriter::append(std::span<const int32_t> ids) {
  if (!shard_) {
    shard_ = std::make_unique<Shard>(
        *storage_, folder_, fmt::format("{}{:05}", settings_.prefix, written_.shards.size()),
        settings_);
  }
  shard_->append(ids);
}

bool ShardWriter::end_document(DocumentId id, int64_t num_bytes, int64_t source,
                               std::string_view name) {
  check(shard_ && shard_->document_tokens() > 0, ErrorCode::Internal, "a document without tokens");
  check(name.size() <= kMaxNameBytes, ErrorCode::Data,
        "a document's id of {} bytes: expected at most {}", name.size(), kMaxNameBytes);
  ShardSource& sums = written_.sources.at(static_cast<size_t>(source));
  sums.num_documents += 1;
  sums.num_tokens += shard_->document_tokens();
  sums.num_bytes += num_bytes;
  shard_->end_document(id, num_bytes, source, name);
  if (shard_->num_tokens() < settings_.shard_tokens) return false;
  finish();
  return true;
}

void ShardWriter::finish() {
  if (!shard_) return;
  check(shard_->document_tokens() == 0, ErrorCode::Internal, "a document was not ended");
  written_.shards.push_back(shard_->finish());
  shard_.reset();
}

void write_manifest(Storage& storage, const std::string& folder, const ShardManifest& manifest) {
  // What cannot be read back must not be written.
  const std::string json = to_json(manifest);
  parse_manifest(json, folder);
  publish_file(storage, join_path(folder, kShardManifestName), json);
}

}  // namespace ingot
