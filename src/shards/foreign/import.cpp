#include "shards/foreign/import.h"

#include <filesystem>

#include "core/error/error.h"
#include "core/error/log.h"
#include "shards/duplicates.h"

namespace ingot {
namespace {

constexpr int64_t kSortBytes = int64_t{1} << 30;  // 16 bytes a document, in memory up to so many

class Importer {
 public:
  Importer(std::shared_ptr<Storage> storage, const ImportSettings& settings,
           const std::string& folder)
      : settings_(settings) {
    manifest_.vocab_size =
        settings.tokenizer ? settings.tokenizer->vocab_size() : settings.vocab_size;
    manifest_.token_bytes = token_bytes_for(manifest_.vocab_size);
    manifest_.bos = settings.marks.bos;
    manifest_.eos = settings.marks.eos;
    manifest_.tokenizer_kind = "unknown";
    if (settings.tokenizer) {
      manifest_.tokenizer_kind = settings.tokenizer->kind();
      manifest_.tokenizer_hash = tokenizer_hash(*settings.tokenizer);
      for (int32_t id = 0; id < manifest_.vocab_size; ++id) {
        bytes_of_id_.push_back(static_cast<int64_t>(settings.tokenizer->decode(id).size()));
      }
    }
    writer_ =
        std::make_unique<ShardWriter>(std::move(storage), folder,
                                      ShardSettings{manifest_.token_bytes, settings.shard_tokens,
                                                    "", manifest_.bos, manifest_.eos},
                                      WrittenShards{{}, {{settings.source, 0, 0, 0}}});
  }

  void add_file(const std::string& path) {
    const auto tokens =
        open_foreign_tokens(path, settings_.marks, manifest_.vocab_size, settings_.format);
    const std::string name = file_name(path);
    document_ = 0;
    start();
    tokens->each_document([&](std::span<const int32_t> ids, bool last) {
      add(path, ids);
      if (last) end_document(path, name);
    });
    check(num_tokens_ == 0, ErrorCode::Data, "{}: ids after the end of its last document", path);
    if (file_has_cut_) manifest_.cut_documents.push_back(num_documents_ - 1);
    file_has_cut_ = false;
  }

  ShardManifest finish() {
    writer_->finish();
    manifest_.shards = writer_->written().shards;
    manifest_.sources = writer_->written().sources;
    return manifest_;
  }

 private:
  void start() {
    num_tokens_ = num_bytes_ = 0;
    last_id_ = -1;
  }

  void add(const std::string& path, std::span<const int32_t> ids) {
    if (ids.empty()) return;
    if (!bytes_of_id_.empty()) {
      for (const int32_t id : ids) num_bytes_ += bytes_of_id_[static_cast<size_t>(id)];
    }
    check(num_tokens_ > 0 || manifest_.bos < 0 || ids.front() == manifest_.bos, ErrorCode::Data,
          "{}: document {} begins with {}: expected BOS {}; import without it", path, document_,
          ids.front(), manifest_.bos);
    num_tokens_ += static_cast<int64_t>(ids.size());
    last_id_ = ids.back();
    writer_->append(ids);
  }

  void end_document(const std::string& path, const std::string& name) {
    check(!file_has_cut_, ErrorCode::Data,
          "{}: document {} ends without EOS {}, which only a file's last may; import without it",
          path, document_ - 1, manifest_.eos);
    if (num_tokens_ == 0) {
      ++manifest_.left_out["no_tokens"];
    } else {
      file_has_cut_ = manifest_.eos >= 0 && last_id_ != manifest_.eos;
      const std::string id = fmt::format("{}:{}", name, document_);
      writer_->end_document(document_id(settings_.source, id), num_bytes_, 0, id);
      ++num_documents_;
    }
    ++document_;
    start();
  }

  const ImportSettings& settings_;
  ShardManifest manifest_;
  std::unique_ptr<ShardWriter> writer_;
  std::vector<int64_t> bytes_of_id_;  // empty: not known
  int64_t document_ = 0;              // in the file
  int64_t num_documents_ = 0;         // written
  int64_t num_tokens_ = 0, num_bytes_ = 0;
  int32_t last_id_ = -1;
  bool file_has_cut_ = false;  // its last document, so far
};

void check_each_once(const std::vector<std::string>& files) {
  for (size_t i = 0; i < files.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      std::error_code error;
      check(!std::filesystem::equivalent(files[k], files[i], error) || error, ErrorCode::Data,
            "{} and {} are the same file, whose tokens would be taken twice: leave one of them out",
            files[k], files[i]);
    }
}

// How many documents begin or end with a mark, where files say where documents are.
struct MarkedDocuments {
  int64_t documents = 0, begin_with_bos = 0, end_with_eos = 0;
};

MarkedDocuments count_marked(const std::vector<std::string>& files,
                             const ImportSettings& settings) {
  const Tokenizer& tokenizer = *settings.tokenizer;
  MarkedDocuments counts;
  for (const std::string& file : files)
    open_foreign_tokens(file, settings.marks, tokenizer.vocab_size(), settings.format)
        ->each_edges([&](int32_t first, int32_t last) {
          ++counts.documents;
          counts.begin_with_bos += first == tokenizer.bos();
          counts.end_with_eos += last == tokenizer.eos();
        });
  return counts;
}

// The mark, if every document has it.
int32_t mark_of_all(const char* name, int32_t id, int64_t with, int64_t documents) {
  if (with > 0 && with < documents)
    log::warn("mark_of_some", {{"mark", name},
                               {"documents", fmt::format("{} of {}", with, documents)},
                               {"why", "the manifest names a mark that every document has"}});
  return with > 0 && with == documents ? id : -1;
}

DocumentMarks marks_of(const std::vector<std::string>& files, const ImportSettings& settings) {
  DocumentMarks marks = settings.marks;
  if (settings.tokenizer == nullptr) return marks;
  const int32_t bos = settings.tokenizer->bos(), eos = settings.tokenizer->eos();
  const MarkedDocuments counts = count_marked(files, settings);
  if (marks.eos < 0 && eos >= 0)
    marks.eos = mark_of_all("EOS", eos, counts.end_with_eos, counts.documents);
  if (marks.bos < 0 && bos >= 0 && bos != eos)
    marks.bos = mark_of_all("BOS", bos, counts.begin_with_bos, counts.documents);
  return marks;
}

}  // namespace

ShardManifest import_tokens(std::shared_ptr<Storage> storage, const std::vector<std::string>& files,
                            const ImportSettings& given, const std::string& folder) {
  check(!storage->exists(join_path(folder, kShardManifestName)), ErrorCode::Config,
        "{} is a finished folder of shards: choose another", folder);
  check_each_once(files);
  ImportSettings settings = given;
  settings.marks = marks_of(files, given);
  Importer importer(storage, settings, folder);
  for (const std::string& file : files) importer.add_file(file);
  ShardManifest manifest = importer.finish();
  check(manifest.num_documents() > 0, ErrorCode::Data, "no documents in {}", files.front());
  const std::vector<ShardsIn> shards = {{folder, &manifest}};
  manifest.equal_documents =
      find_duplicate_documents(*storage, shards, DocumentKey::Content, kSortBytes,
                               join_path(folder, "duplicates.tmp"))
          .count;
  if (settings.tokenizer) {
    write_file_atomically(*storage, join_path(folder, kShardTokenizerName),
                          settings.tokenizer->serialize());
  }
  write_manifest(*storage, folder, manifest);
  return manifest;
}

}  // namespace ingot
