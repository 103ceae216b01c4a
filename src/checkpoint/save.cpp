#include <algorithm>
#include <cstring>
#include <exception>
#include <future>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/new_output.h"
#include "checkpoint/safetensors.h"
#include "core/error/error.h"
#include "ops/memory.h"

namespace ingot {
namespace {

// Runs `body` on every rank and throws on every rank when one of them failed, so that no rank goes
// on to a collective that the failed one never reaches.
void on_all_ranks(Control& control, std::string_view what, Timeout timeout,
                  const std::function<void()>& body) {
  std::exception_ptr own;
  try {
    body();
  } catch (...) {
    own = std::current_exception();
  }
  const std::vector<std::string> all = control.gather(what, own ? "failed" : "", timeout);
  if (own) std::rethrow_exception(own);
  const auto bad = std::find(all.begin(), all.end(), "failed");
  check(bad == all.end(), ErrorCode::Comm, "the checkpoint was not saved: rank {} failed",
        bad - all.begin());
}

// What this rank writes of one parameter, flat: elements [begin, end) of its shard.
struct OwnPart {
  const ParameterShard* shard;
  ShardRange range;  // of the whole parameter
  int64_t begin, end;
};

std::vector<OwnPart> own_parts(const ParameterStore& store) {
  std::vector<OwnPart> parts;
  for (const ParameterShard& shard : store.shards()) {
    const ShardRange range = store.shard_map().of(shard.parameter).saved;
    parts.push_back(
        {&shard, range, range.begin - shard.range.begin, range.end - shard.range.begin});
  }
  return parts;
}

FileFacts write_rank_file(Context& ctx, Storage& storage, const std::string& path,
                          const TensorTable& parameters, const std::vector<OwnPart>& parts) {
  std::vector<SafetensorsTensor> names;
  std::vector<std::function<Tensor()>> contents;
  // The wider first: all are aligned.
  for (const DType dtype : {DType::F64, DType::F32, DType::BF16}) {
    for (const OwnPart& part : parts) {
      if (part.range.size() == 0) continue;
      const auto add = [&](std::string_view what, DType its_dtype,
                           std::function<Tensor()> content) {
        if (its_dtype != dtype) return;
        const std::string& name = parameters[part.shard->parameter].name;
        names.push_back({entry_key(what, name), {part.range.size()}, dtype});
        contents.push_back(std::move(content));
      };
      add("weight", exact_room(*part.shard).dtype,
          [&ctx, &part] { return exact_weights(ctx, *part.shard, part.begin, part.end); });
      for (size_t i = 0; i < part.shard->states.size(); ++i) {
        const Tensor state = part.shard->states[i].slice(0, part.begin, part.end);
        add(part.shard->state_names[i], state.dtype, [state] { return state; });
      }
    }
  }
  std::vector<std::byte> staged;  // of a tensor on a GPU
  return write_safetensors(storage, path, names, [&](size_t i, const PutElements& put) {
    const Tensor content = contents[i]();
    if (content.device.kind == DeviceKind::Cpu) return put(content);
    staged.resize(static_cast<size_t>(content.bytes()));
    copy_to_host(ctx, content, staged.data());
    put(Tensor::contiguous(staged.data(), content.dtype, content.shape));
  });
}

// All ranks' files as rank 0 lists them; the others learn them too, at no cost worth a branch.
std::vector<ManifestFile> gather_files(Control& control, Timeout timeout,
                                       const TensorTable& parameters, const FileFacts& facts,
                                       const std::vector<OwnPart>& parts) {
  const size_t num_parameters = parameters.rows().size();
  const size_t row = 2 + 2 * num_parameters;  // bytes, hash, then begin and end by parameter
  std::vector<int64_t> own(row, 0);
  own[0] = facts.bytes;
  own[1] = static_cast<int64_t>(facts.hash);
  for (const OwnPart& part : parts) {
    const size_t at = 2 + 2 * static_cast<size_t>(part.shard->parameter.row);
    own[at] = part.range.begin;
    own[at + 1] = part.range.end;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(own.data()), row * sizeof(int64_t));
  const std::vector<std::string> all = control.gather("files of a checkpoint", bytes, timeout);

  std::vector<ManifestFile> files;
  std::vector<int64_t> of_rank(row);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::memcpy(of_rank.data(), all[rank].data(), bytes.size());
    ManifestFile file{rank_file_name(static_cast<int>(rank)),
                      {of_rank[0], static_cast<uint64_t>(of_rank[1])},
                      {}};
    for (size_t i = 0; i < num_parameters; ++i) {
      const ShardRange range{of_rank[2 + 2 * i], of_rank[3 + 2 * i]};
      if (range.size() > 0) file.ranges[parameters.rows()[i].name] = range;
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Writes the auxiliary files into the folder and then closes the folder with its manifest. Called
// once, when all other files are there and synced.
void write_manifest(Storage& storage, const std::string& folder, const TensorTable& parameters,
                    const AuxiliaryFiles& auxiliary_files, Manifest manifest) {
  for (const TensorSpec& row : parameters.rows()) manifest.numel[row.name] = row.shape.numel();
  manifest.origin = auxiliary_files.origin;
  manifest.stop_ids = auxiliary_files.stop_ids;
  manifest.has_tokenizer = !auxiliary_files.tokenizer.empty();
  const auto keep = [&](const std::string& name, const std::string& contents) {
    HashedFile file(storage, join_path(folder, name));
    file.append(contents);
    manifest.files.push_back({name, file.finish(), {}});
  };
  if (manifest.has_tokenizer) keep(std::string(kTokenizerName), auxiliary_files.tokenizer);
  if (!auxiliary_files.hf_files.empty()) {
    storage.make_directories(join_path(folder, kHfFolderName));
    for (const auto& [name, contents] : auxiliary_files.hf_files)
      keep(join_path(kHfFolderName, name), contents);
    storage.sync_directory(join_path(folder, kHfFolderName));
  }
  HashedFile file(storage, join_path(folder, kManifestName));
  file.append(to_text(manifest));
  file.finish();
}

// All weights, the wider dtypes first, in up to four files of `file_bytes` or more: one thread
// writes a file, and copies into the cache of the disk no faster than a good disk reads.
std::vector<std::vector<WeightsRange>> weight_files(const TensorTable& parameters,
                                                    const Weights& weights, int64_t file_bytes) {
  std::vector<WeightsRange> all;
  int64_t bytes = 0;
  for (const DType dtype : {DType::F64, DType::F32, DType::BF16, DType::F16})
    for (const TensorSpec& row : parameters.rows()) {
      if (weights.dtype(row.name) != dtype) continue;
      all.push_back({row.name, {0, row.shape.numel()}, dtype});
      bytes += row.shape.numel() * size_of(dtype);
    }
  const int64_t num_files = std::clamp<int64_t>(bytes / file_bytes, 1, 4);
  std::vector<std::vector<WeightsRange>> files(static_cast<size_t>(num_files));
  int64_t before = 0;
  for (WeightsRange& range : all) {
    const int64_t size = range.range.size() * size_of(range.dtype);
    files[static_cast<size_t>(before * num_files / bytes)].push_back(std::move(range));
    before += size;
  }
  std::erase_if(files, [](const auto& file) { return file.empty(); });  // beside a large tensor
  return files;
}

ManifestFile write_weight_file(Storage& storage, const std::string& folder, const std::string& name,
                               const Weights& weights, const std::vector<WeightsRange>& ranges) {
  ManifestFile file{name, {}, {}};
  std::vector<SafetensorsTensor> tensors;
  for (const WeightsRange& range : ranges) {
    tensors.push_back({entry_key("weight", range.name), {range.range.size()}, range.dtype});
    file.ranges[range.name] = range.range;
  }
  PieceReader pieces(weights, ranges);
  file.facts = write_safetensors(storage, join_path(folder, name), tensors,
                                 [&](size_t, const PutElements& put) { pieces.next_range(put); });
  return file;
}

}  // namespace

std::string save_checkpoint(Storage& storage, Control& control, const std::string& run_dir,
                            const RunConfig& config, const RunState& state,
                            const TensorTable& parameters, const ParameterStore& store,
                            const AuxiliaryFiles& auxiliary_files, Timeout timeout) {
  const std::string dir = join_path(run_dir, step_name(state.step));
  const std::string folder = temporary_path(dir);
  const bool first = control.rank() == 0;
  try {
    on_all_ranks(control, "start of a checkpoint", timeout, [&] {
      if (first) start_folder(storage, dir);
    });
    const std::vector<OwnPart> parts = own_parts(store);
    FileFacts facts;
    on_all_ranks(control, "writing a checkpoint", timeout, [&] {
      facts = write_rank_file(store.context(), storage,
                              join_path(folder, rank_file_name(control.rank())), parameters, parts);
    });
    Manifest manifest;
    manifest.state = state;
    manifest.has_optimizer = true;
    manifest.config_toml = to_toml(config);
    manifest.config_hash = config_hash(config);
    manifest.files = gather_files(control, timeout, parameters, facts, parts);
    on_all_ranks(control, "end of a checkpoint", timeout, [&] {
      if (!first) return;
      write_manifest(storage, folder, parameters, auxiliary_files, std::move(manifest));
      publish_folder(storage, dir);
    });
  } catch (...) {
    if (first) abandon_folder(storage, dir);
    throw;
  }
  return dir;
}

void write_weights(Storage& storage, const std::string& dir, const TensorTable& parameters,
                   const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                   int64_t file_bytes) {
  NewFolder folder(storage, dir);
  const std::vector<std::vector<WeightsRange>> files =
      weight_files(parameters, weights, file_bytes);
  std::vector<std::future<ManifestFile>> written;
  for (size_t i = 0; i < files.size(); ++i)
    written.push_back(std::async(std::launch::async, [&, i] {
      return write_weight_file(storage, folder.path(), rank_file_name(static_cast<int>(i)), weights,
                               files[i]);
    }));
  Manifest manifest;
  // Where one failed, the others' futures still wait for their ends before the folder goes.
  for (auto& file : written) manifest.files.push_back(file.get());
  // Weights alone are a model and no run: no other setting would be true of them.
  manifest.config_toml = to_toml(weights.model());
  manifest.config_hash = hash_text(manifest.config_toml);
  write_manifest(storage, folder.path(), parameters, auxiliary_files, std::move(manifest));
  folder.publish();
}

}  // namespace ingot
