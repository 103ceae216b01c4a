#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "checkpoint/elements.h"
#include "checkpoint/exchange/stop_ids.h"
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

struct CheckpointReader::Impl {
  std::shared_ptr<Storage> storage;
  std::string dir;
  Manifest manifest;
  CheckpointInfo info;
  std::mutex mutex;
  std::map<std::string, RankFile> opened;

  std::string path(std::string_view name) const { return join_path(dir, name); }

  const RankFile& rank_file(const std::string& name) {
    const std::lock_guard lock(mutex);
    RankFile& file = opened[name];
    if (!file.file) {
      auto reader = storage->open(path(name));
      file.entries = read_safetensors_header(*reader, path(name));
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
          "'{}' does not hold elements [{}, {}) of {}; use another checkpoint", path(file.name),
          held.begin, held.end, key);
    const DType dtype = entry->second.dtype;
    const int64_t skipped = (common.begin - held.begin) * size_of(dtype);
    read_elements(*source.file, entry->second.offset + skipped, dtype,
                  out.slice(0, common.begin - range.begin, common.end - range.begin));
    return common.size();
  }
};

CheckpointReader::CheckpointReader(std::shared_ptr<Storage> storage, std::string dir)
    : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::move(storage);
  impl_->dir = std::move(dir);
  const std::string path = impl_->path(kManifestName);
  if (!impl_->storage->exists(path))
    throw Error(ErrorCode::Data, why_no_checkpoint(*impl_->storage, impl_->dir));
  impl_->manifest = parse_manifest(read_text(*impl_->storage, path), path);

  const Manifest& manifest = impl_->manifest;
  CheckpointInfo& info = impl_->info;
  info.dir = impl_->dir;
  info.state = manifest.state;
  info.config_toml = manifest.config_toml;
  info.model = parse_run_config(manifest.config_toml, path, {}).model;
  // Imports used to keep all settings of a run that never was.
  if (!manifest.has_optimizer) info.config_toml = to_toml(info.model);
  info.hash = manifest.config_hash;
  info.tokenizer = manifest.has_tokenizer ? impl_->path(kTokenizerName) : "byte";
  info.has_optimizer = manifest.has_optimizer;
  info.origin = manifest.origin;
  for (const ManifestFile& file : manifest.files) info.bytes += file.facts.bytes;
}

CheckpointReader::~CheckpointReader() = default;

const CheckpointInfo& CheckpointReader::info() const {
  return impl_->info;
}

int64_t CheckpointReader::numel(const std::string& name) const {
  const auto found = impl_->manifest.numel.find(name);
  check(found != impl_->manifest.numel.end(), ErrorCode::Data,
        "checkpoint '{}' has no tensor {}; it is of another model", impl_->dir, name);
  return found->second;
}

void CheckpointReader::read(const std::string& what, const std::string& name, ShardRange range,
                            const Tensor& out) const {
  check(0 <= range.begin && range.begin <= range.end && range.end <= numel(name), ErrorCode::Data,
        "{} in checkpoint '{}': expected elements within [0, {}), got [{}, {})", name, impl_->dir,
        numel(name), range.begin, range.end);
  check(out.is_contiguous() && out.numel() == range.size(), ErrorCode::Internal,
        "reading {} elements of {}: expected as many in a contiguous tensor, got {}", range.size(),
        name, out.str());
  const Tensor flat = out.reshape({range.size()});
  const std::string key = entry_key(what, name);
  int64_t read = 0;
  for (const ManifestFile& file : impl_->manifest.files) {
    const auto held = file.ranges.find(name);
    if (held == file.ranges.end()) continue;
    read += impl_->read_from(file, key, held->second, range, flat);
  }
  check(read == range.size(), ErrorCode::Data,
        "checkpoint '{}' is incomplete: expected {} elements of {}, got {}; use another one",
        impl_->dir, range.size(), key, read);
}

DType CheckpointReader::dtype(const std::string& name) const {
  const std::string key = entry_key("weight", name);
  for (const ManifestFile& file : impl_->manifest.files) {
    if (!file.ranges.contains(name)) continue;
    const auto& entries = impl_->rank_file(file.name).entries;
    if (const auto entry = entries.find(key); entry != entries.end()) return entry->second.dtype;
  }
  throw Error(
      ErrorCode::Data,
      fmt::format("checkpoint '{}' has no tensor {}; it is of another model", impl_->dir, name));
}

Companions CheckpointReader::companions() const {
  Companions found;
  found.origin = impl_->manifest.origin;
  if (impl_->manifest.has_tokenizer)
    found.tokenizer = read_text(*impl_->storage, impl_->path(kTokenizerName));
  const std::string prefix = join_path(kHfFolderName, "");
  for (const ManifestFile& file : impl_->manifest.files)
    if (file.name.starts_with(prefix))
      found.hf_files[file.name.substr(prefix.size())] =
          read_text(*impl_->storage, impl_->path(file.name));
  const auto& stop_ids = impl_->manifest.stop_ids;
  found.stop_ids = stop_ids ? *stop_ids
                            : older_stop_ids(found.hf_files, impl_->path(kHfFolderName),
                                             impl_->info.model.vocab);
  return found;
}

void CheckpointReader::verify() const {
  const int64_t step = impl_->manifest.state.step;
  const std::optional<int64_t> named = parse_step_name(file_name(impl_->dir));
  check(!named || *named == step || !impl_->manifest.has_optimizer, ErrorCode::Data,
        "'{}' holds step {}, so that its name is wrong: rename it to {}, or move it out of the run",
        impl_->dir, step, step_name(step));
  for (const ManifestFile& file : impl_->manifest.files) {
    const std::string path = impl_->path(file.name);
    const FileFacts found = hash_file(*impl_->storage->open(path));
    check(found.bytes == file.facts.bytes, ErrorCode::Data,
          "'{}' is damaged: expected {} bytes, got {}; use another checkpoint", path,
          file.facts.bytes, found.bytes);
    check(found.hash == file.facts.hash, ErrorCode::Data,
          "'{}' is damaged: expected checksum {:016x}, got {:016x}; use another checkpoint", path,
          file.facts.hash, found.hash);
  }
}

}  // namespace ingot
