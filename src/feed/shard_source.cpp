#include "feed/shard_source.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/error/error.h"
#include "core/text/format.h"
#include "shards/background_check.h"
#include "shards/shard_reader.h"

namespace ingot {
namespace {

class ShardTokens final : public TokenSource {
 public:
  ShardTokens(const std::string& folder, ShardManifest manifest, const Tokenizer& tokenizer,
              int64_t compared_here)
      : folder_(folder), manifest_(std::move(manifest)) {
    for (size_t i = 0; i < manifest_.shards.size(); ++i) {
      shards_.push_back(std::make_unique<ShardReader>(folder, manifest_, i));
      first_tokens_.push_back(first_tokens_.back() + shards_.back()->num_tokens());
      first_documents_.push_back(first_documents_.back() + shards_.back()->num_documents());
    }
    resident_ = num_tokens() * manifest_.token_bytes <= kResidentBytes;
    look_for_unhashed(compared_here);
    for (int32_t id = 0; id < manifest_.vocab_size; ++id)
      bytes_of_.push_back(static_cast<int32_t>(tokenizer.decode(id).size()));
  }

  int64_t num_tokens() const override { return first_tokens_.back(); }

  void read(int64_t begin, std::span<int32_t> out) const override {
    check_range(begin, begin + static_cast<int64_t>(out.size()));
    if (check_) check_->rethrow();
    for (size_t shard = containing(first_tokens_, begin); !out.empty(); ++shard) {
      const int64_t offset = begin - first_tokens_[shard];
      const auto count =
          std::min(static_cast<int64_t>(out.size()), shards_[shard]->num_tokens() - offset);
      shards_[shard]->tokens(offset, out.first(static_cast<size_t>(count)));
      if (!resident_) shards_[shard]->release_tokens(offset, offset + count);
      out = out.subspan(static_cast<size_t>(count));
      begin += count;
    }
  }

  // Documents know their bytes. Of one that is cut, tokens that do not begin it count as they
  // decode; those that do get the rest, since some formats put a space before a text that it does
  // not have.
  int64_t num_bytes(int64_t begin, int64_t end) const override {
    check_range(begin, end);
    int64_t bytes = 0;
    while (begin < end) {
      const int64_t document = document_at(begin);
      const int64_t first = document_begin(document), last = document_begin(document + 1);
      const int64_t stop = std::min(end, last);
      if (begin == first)
        bytes += document_bytes(document) - decoded_bytes(stop, last);
      else
        bytes += decoded_bytes(begin, stop);
      begin = stop;
    }
    return bytes;
  }

  int64_t num_documents() const override { return first_documents_.back(); }
  int64_t document_begin(int64_t document) const override {
    if (document == num_documents()) return num_tokens();
    const size_t shard = containing(first_documents_, document);
    return first_tokens_[shard] +
           shards_[shard]->document_begin(document - first_documents_[shard]);
  }
  int64_t document_at(int64_t position) const override {
    const size_t shard = containing(first_tokens_, position);
    return first_documents_[shard] + shards_[shard]->document_of(position - first_tokens_[shard]);
  }
  std::string document_name(int64_t document) const override {
    const size_t shard = containing(first_documents_, document);
    return shards_[shard]->name(document - first_documents_[shard]).id;
  }

  // An id is made of source and name, so the names need not be read.
  std::optional<int64_t> find_document(std::string_view name) const override {
    std::vector<DocumentId> wanted(1);
    if (!parse_document_id(name, wanted[0])) wanted.clear();
    for (const ShardSource& source : manifest_.sources)
      wanted.push_back(document_id(source.name, name));
    for (size_t shard = 0; shard < shards_.size(); ++shard)
      for (int64_t d = 0; d < shards_[shard]->num_documents(); ++d)
        if (std::find(wanted.begin(), wanted.end(), shards_[shard]->id(d)) != wanted.end())
          return first_documents_[shard] + d;
    return std::nullopt;
  }

  Origins origins() const override {
    check(manifest_.sources.size() <= std::numeric_limits<uint16_t>::max(), ErrorCode::Data,
          "{}: {} sources, expected at most 65535", folder_, manifest_.sources.size());
    Origins origins;
    for (const ShardSource& source : manifest_.sources) origins.names.push_back(source.name);
    for (const auto& shard : shards_)
      for (int64_t d = 0; d < shard->num_documents(); ++d)
        origins.of_document.push_back(static_cast<uint16_t>(shard->name(d).source));
    return origins;
  }

  std::optional<ContentId> content(int64_t document) const override {
    const size_t shard = containing(first_documents_, document);
    return shards_[shard]->content(document - first_documents_[shard]);
  }
  int64_t content_cost() const override { return unhashed_tokens_; }
  void compare_in_background() override {
    if (!unhashed_.empty() && !check_)
      check_ = std::make_unique<BackgroundCheck>(posix_storage(), folder_, unhashed_,
                                                 manifest_.token_bytes);
  }
  uint64_t content_hash() const override { return manifest_hash(manifest_); }

  std::string describe() const override {
    return fmt::format("{} shard{}, {} documents, {} tokens ({})", shards_.size(),
                       shards_.size() == 1 ? "" : "s", format_count(num_documents()),
                       format_count(num_tokens()), manifest_.tokenizer_kind);
  }

 private:
  // Shards of a program that wrote no hashes of chunks. Few are compared at once, as other files of
  // that size are read at once; more take longer than a start should.
  void look_for_unhashed(int64_t compared_here) {
    int64_t bytes = 0;
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i]->has_hashes()) continue;
      unhashed_.push_back(manifest_.shards[i]);
      unhashed_tokens_ += shards_[i]->num_tokens();
      bytes += shards_[i]->num_tokens() * manifest_.token_bytes;
    }
    if (bytes > compared_here) return;
    for (size_t i = 0; i < shards_.size(); ++i)
      if (!shards_[i]->has_hashes()) shards_[i]->check_hashes(manifest_.shards[i]);
    unhashed_.clear();
  }

  void check_range(int64_t begin, int64_t end) const {
    check(begin >= 0 && begin <= end && end <= num_tokens(), ErrorCode::Internal,
          "{}: tokens [{}, {}) of {}", folder_, begin, end, num_tokens());
  }
  // The shard whose tokens or documents, as `firsts` counts them, hold this one.
  static size_t containing(const std::vector<int64_t>& firsts, int64_t wanted) {
    const auto beyond = std::upper_bound(firsts.begin(), firsts.end(), wanted);
    return static_cast<size_t>(beyond - firsts.begin()) - 1;
  }
  int64_t document_bytes(int64_t document) const {
    const size_t shard = containing(first_documents_, document);
    return shards_[shard]->num_bytes(document - first_documents_[shard]);
  }
  int64_t decoded_bytes(int64_t begin, int64_t end) const {
    std::vector<int32_t> ids(static_cast<size_t>(end - begin));
    read(begin, ids);
    int64_t bytes = 0;
    for (const int32_t id : ids) bytes += bytes_of_[static_cast<size_t>(id)];
    return bytes;
  }

  std::string folder_;
  ShardManifest manifest_;
  std::vector<std::unique_ptr<ShardReader>> shards_;
  std::vector<int64_t> first_tokens_{0}, first_documents_{0};  // of each shard, and the end
  std::vector<int32_t> bytes_of_;                              // decoded size of each id
  bool resident_ = true;
  std::vector<ShardFile> unhashed_;  // to be compared in the background
  int64_t unhashed_tokens_ = 0;
  std::unique_ptr<BackgroundCheck> check_;
};

}  // namespace

bool is_shard_folder(const std::string& path) {
  std::error_code no_folder;
  return std::filesystem::exists(std::filesystem::path(path) / kShardManifestName, no_folder);
}

std::unique_ptr<TokenSource> open_shards(const std::string& folder, const Tokenizer& tokenizer,
                                         int64_t compared_here) {
  ShardManifest manifest = read_manifest(*posix_storage(), folder);
  check_tokenizer(manifest, tokenizer, folder);
  check(!manifest.shards.empty(), ErrorCode::Data, "{}: the shards hold no document", folder);
  return std::make_unique<ShardTokens>(folder, std::move(manifest), tokenizer, compared_here);
}

}  // namespace ingot
