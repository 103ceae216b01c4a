#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "checkpoint/elements.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {
namespace {

// A rank's file, opened when first read from.
struct RankFile {
  std::unique_ptr<ReadableFile> file;
  std::map<std::string, SafetensorsEntry> entries;
};

// Of a checkpoint whose manifest does not say them: by the files that it keeps, as far as these do.
std::vector<int32_t> older_stop_ids(const std::map<std::string, std::string>& hf_files,
                                    const std::string& dir, int64_t vocab) {
  try {
    return hf_stop_ids(hf_files, vocab, dir);
  } catch (const Error& error) {
    log::warn("stop_ids_unknown", {{"why", error.what()}});
    return {};
  }
}

}  // namespace

struct CheckpointReader::Contents {
  std::shared_ptr<Storage> storage;
  std::string dir;
  std::string text;  // of the manifest
  Manifest manifest;
  CheckpointInfo info;

  std::string path(std::string_view name) const { return join_path(dir, name); }
};

struct CheckpointReader::Files {
  explicit Files(const Contents& of) : contents(of) {}

  const Contents& contents;
  std::mutex mutex;
  std::map<std::string, RankFile> opened;

  const RankFile& rank_file(const std::string& name) {
    const std::lock_guard lock(mutex);
    RankFile& file = opened[name];
    if (!file.file) {
      const std::string path = contents.path(name);
      auto reader = contents.storage->open(path);
      file.entries = read_safetensors_header(*reader, path);
      file.file = std::move(reader);
    }
    return file;
  }

  // The elements of `range` that `file` holds, into their place in out.
  int64_t read_from(const ManifestFile& file, const std::string& key, ShardRange held,
                    ShardRange range, const Tensor& out) {
    const ShardRange common{std::max(held.begin, range.begin), std::min(held.end, range.end)};
    if (common.size() <= 0) return 0;
    const RankFile& source = rank_file(file.name);
    const auto entry = source.entries.find(key);
    check(entry != source.entries.end() && entry->second.numel == held.size(), ErrorCode::Data,
          "'{}' does not hold elements [{}, {}) of {}; use another checkpoint",
          contents.path(file.name), held.begin, held.end, key);
    const DType dtype = entry->second.dtype;
    const int64_t skipped = (common.begin - held.begin) * size_of(dtype);
    read_elements(*source.file, entry->second.offset + skipped, dtype,
                  out.slice(0, common.begin - range.begin, common.end - range.begin));
    return common.size();
  }
};

CheckpointReader::CheckpointReader(std::shared_ptr<Storage> storage, std::string dir) {
  auto contents = std::make_shared<Contents>();
  contents->storage = std::move(storage);
  contents->dir = std::move(dir);
  const std::string path = contents->path(kManifestName);
  if (!contents->storage->exists(path))
    throw Error(ErrorCode::Data, why_no_checkpoint(*contents->storage, contents->dir));
  contents->text = read_text(*contents->storage, path);
  contents->manifest = parse_manifest(contents->text, path);

  const Manifest& manifest = contents->manifest;
  CheckpointInfo& info = contents->info;
  info.dir = contents->dir;
  info.state = manifest.state;
  info.config_toml = manifest.config_toml;
  info.model = parse_run_config(manifest.config_toml, path, {}).model;
  // Imports used to keep all settings of a run that never was.
  if (!manifest.has_optimizer) info.config_toml = to_toml(info.model);
  info.hash = manifest.config_hash;
  info.tokenizer = manifest.has_tokenizer ? contents->path(kTokenizerName) : "byte";
  info.has_optimizer = manifest.has_optimizer;
  info.origin = manifest.origin;
  for (const ManifestFile& file : manifest.files) info.bytes += file.facts.bytes;
  contents_ = std::move(contents);
  files_ = std::make_unique<Files>(*contents_);
}

CheckpointReader::CheckpointReader(const CheckpointReader& other)
    : contents_(other.contents_), files_(std::make_unique<Files>(*contents_)) {}

CheckpointReader& CheckpointReader::operator=(const CheckpointReader& other) {
  contents_ = other.contents_;
  files_ = std::make_unique<Files>(*contents_);
  return *this;
}

CheckpointReader::~CheckpointReader() = default;

const CheckpointInfo& CheckpointReader::info() const {
  return contents_->info;
}

const std::string& CheckpointReader::manifest_text() const {
  return contents_->text;
}

int64_t CheckpointReader::numel(const std::string& name) const {
  const auto found = contents_->manifest.numel.find(name);
  check(found != contents_->manifest.numel.end(), ErrorCode::Data,
        "checkpoint '{}' has no tensor {}; it is of another model", contents_->dir, name);
  return found->second;
}

void CheckpointReader::read(const std::string& what, const std::string& name, ShardRange range,
                            const Tensor& out) const {
  check(0 <= range.begin && range.begin <= range.end && range.end <= numel(name), ErrorCode::Data,
        "{} in checkpoint '{}': expected elements within [0, {}), got [{}, {})", name,
        contents_->dir, numel(name), range.begin, range.end);
  check(out.is_contiguous() && out.numel() == range.size(), ErrorCode::Internal,
        "reading {} elements of {}: expected as many in a contiguous tensor, got {}", range.size(),
        name, out.str());
  const Tensor flat = out.reshape({range.size()});
  const std::string key = entry_key(what, name);
  int64_t read = 0;
  for (const ManifestFile& file : contents_->manifest.files) {
    const auto held = file.ranges.find(name);
    if (held == file.ranges.end()) continue;
    read += files_->read_from(file, key, held->second, range, flat);
  }
  check(read == range.size(), ErrorCode::Data,
        "checkpoint '{}' is incomplete: expected {} elements of {}, got {}; use another one",
        contents_->dir, range.size(), key, read);
}

DType CheckpointReader::dtype(const std::string& name) const {
  const std::string key = entry_key("weight", name);
  for (const ManifestFile& file : contents_->manifest.files) {
    if (!file.ranges.contains(name)) continue;
    const auto& entries = files_->rank_file(file.name).entries;
    if (const auto entry = entries.find(key); entry != entries.end()) return entry->second.dtype;
  }
  throw Error(ErrorCode::Data,
              fmt::format("checkpoint '{}' has no tensor {}; it is of another model",
                          contents_->dir, name));
}

AuxiliaryFiles CheckpointReader::auxiliary_files() const {
  AuxiliaryFiles found;
  found.origin = contents_->manifest.origin;
  if (contents_->manifest.has_tokenizer)
    found.tokenizer = read_text(*contents_->storage, contents_->path(kTokenizerName));
  const std::string prefix = join_path(kHfFolderName, "");
  for (const ManifestFile& file : contents_->manifest.files)
    if (file.name.starts_with(prefix))
      found.hf_files[file.name.substr(prefix.size())] =
          read_text(*contents_->storage, contents_->path(file.name));
  const auto& stop_ids = contents_->manifest.stop_ids;
  found.stop_ids = stop_ids ? *stop_ids
                            : older_stop_ids(found.hf_files, contents_->path(kHfFolderName),
                                             contents_->info.model.vocab);
  return found;
}

void CheckpointReader::verify() const {
  const int64_t step = contents_->manifest.state.step;
  const std::optional<int64_t> named = parse_step_name(file_name(contents_->dir));
  check(!named || *named == step || !contents_->manifest.has_optimizer, ErrorCode::Data,
        "'{}' holds step {}, so that its name is wrong: rename it to {}, or move it out of the run",
        contents_->dir, step, step_name(step));
  for (const ManifestFile& file : contents_->manifest.files) {
    const std::string path = contents_->path(file.name);
    const FileFacts found = hash_file(*contents_->storage->open(path));
    check(found.bytes == file.facts.bytes, ErrorCode::Data,
          "'{}' is damaged: expected {} bytes, got {}; use another checkpoint", path,
          file.facts.bytes, found.bytes);
    check(found.hash == file.facts.hash, ErrorCode::Data,
          "'{}' is damaged: expected checksum {:016x}, got {:016x}; use another checkpoint", path,
          file.facts.hash, found.hash);
  }
}

}  // namespace ingot
