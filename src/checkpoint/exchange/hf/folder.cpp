#include "checkpoint/exchange/hf/folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "checkpoint/elements.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/exchange/hf/tokenizer.h"
#include "checkpoint/safetensors.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "spec/model/transformer_parameters.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace ingot {
namespace {

struct FileEntry {
  std::string path;
  const ReadableFile* file = nullptr;
  SafetensorsEntry entry;
};
using Entries = std::map<std::string, FileEntry>;  // by tensor

struct Piece {
  FileEntry at;
  bool transposed = false;
  bool from_one = false;
};

// What is there in the place of model.safetensors and its index.
[[noreturn]] void refuse_without_weights(Storage& storage, const std::string& dir) {
  for (const std::string& name : storage.list(dir)) {
    check(!name.starts_with("pytorch_model"), ErrorCode::Data,
          "'{0}' holds its weights pickled, in {1}: make safetensors of them with "
          "tools/pt_to_safetensors.py {0}",
          dir, name);
    check(!name.starts_with("model-") || !name.ends_with(".safetensors"), ErrorCode::Data,
          "'{}' holds {}, but no {}; get the folder again", dir, name, kHfIndexName);
  }
  throw Error(ErrorCode::Data, fmt::format("'{}' holds no weights: expected {}, or several files "
                                           "and {}; get the folder again",
                                           dir, kHfWeightsName, kHfIndexName));
}

void warn_of_named_templates(Storage& storage, const std::string& dir) {
  const std::string folder = join_path(dir, kNamedTemplates);
  if (!storage.exists(folder)) return;
  const std::vector<std::string> names = storage.list(folder);
  if (!names.empty())
    log::warn("chat_templates_left_out",
              {{"folder", folder},
               {"why", fmt::format("{} chat templates besides the default are not taken: {}",
                                   names.size(), fmt::join(names, ", "))}});
}

// Which weights count is said by adapter_config.json then, and no longer by config.json.
void check_no_adapter(Storage& storage, const std::string& dir) {
  const std::string config = join_path(dir, "adapter_config.json");
  check(!storage.exists(config), ErrorCode::Data,
        "'{}' says that an adapter changes these weights, and adapters are not computed here: "
        "merge it into them with peft's merge_and_unload, or remove its files if it is not meant",
        config);
}

}  // namespace

struct HfFolder::Impl {
  std::shared_ptr<Storage> storage;
  std::string dir;
  HfConfigFile config;
  std::vector<std::unique_ptr<ReadableFile>> files;
  Entries entries;
  std::map<std::string, std::vector<Piece>> pieces;  // by our name
  // Transposed tensors that were read last: their rows are wanted one after another, and where one
  // ends threads still want it while others are at the next.
  struct Turned {
    const ReadableFile* file = nullptr;
    int64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  mutable std::mutex mutex;
  mutable std::array<Turned, 2> turned;  // the older first

  std::string path(std::string_view name) const { return join_path(dir, name); }

  void open_file(const std::string& name, const std::map<std::string, std::string>* index) {
    files.push_back(storage->open_once(path(name)));
    for (auto& [tensor, entry] : read_safetensors_header(*files.back(), path(name))) {
      if (index != nullptr && !is_harmless_tensor(tensor)) {
        const auto listed = index->find(tensor);
        check(listed != index->end() && listed->second == name, ErrorCode::Data,
              "'{}' holds {}, which {} does not list there; get the folder again", path(name),
              tensor, kHfIndexName);
      }
      entries[tensor] = {path(name), files.back().get(), entry};
    }
  }

  void open_files() {
    // One file before several and their index, as transformers takes them where both are there.
    if (storage->exists(path(kHfWeightsName)))
      return open_file(std::string(kHfWeightsName), nullptr);
    if (storage->exists(path(kHfIndexName))) {
      const auto index =
          parse_hf_index(read_text(*storage, path(kHfIndexName)), path(kHfIndexName));
      std::map<std::string, std::string> first_tensor;  // by file
      for (const auto& [tensor, file] : index) first_tensor.emplace(file, tensor);
      for (const auto& [file, tensor] : first_tensor) open_file(file, &index);
      for (const auto& [tensor, file] : index)
        check(entries.contains(tensor), ErrorCode::Data,
              "'{}' says that {} lies in {}, which does not hold it; get the folder again",
              path(kHfIndexName), tensor, file);
      return;
    }
    refuse_without_weights(*storage, dir);
  }

  // Under its whole name, or without the base, as some files have them.
  const FileEntry* find(const std::string& name) const {
    const auto found = entries.find(name);
    if (found != entries.end()) return &found->second;
    const std::string& base = config.hf.architecture->base;
    if (base.empty() || !name.starts_with(base)) return nullptr;
    const auto bare = entries.find(name.substr(base.size()));
    return bare == entries.end() ? nullptr : &bare->second;
  }

  void map_tensors() {
    std::map<const FileEntry*, bool> used;
    const TensorTable parameters = transformer_parameters(config.hf.model);
    for (const TensorSpec& row : parameters.rows()) {
      for (const ForeignTensor& tensor : hf_tensors_of(row, *config.hf.architecture)) {
        const FileEntry* found = find(tensor.name);
        check(found != nullptr, ErrorCode::Data,
              "'{}' has no tensor {}, which a {} of its config.json has; get the folder again", dir,
              tensor.name, config.hf.architecture->name);
        check(found->entry.shape == tensor.shape, ErrorCode::Data,
              "'{}': {} has the shape {}, expected {} by config.json", found->path, tensor.name,
              found->entry.shape, tensor.shape);
        check(is_weight_dtype(found->entry.dtype), ErrorCode::Data,
              "'{}': {} is of dtype {}, expected F64, F32, BF16 or F16: quantized weights cannot "
              "be imported",
              found->path, tensor.name, name_of(found->entry.dtype));
        pieces[row.name].push_back({*found, tensor.transposed, tensor.from_one});
        used[found] = true;
      }
    }
    for (const auto& [name, entry] : entries) {
      const bool is_tied_head = config.hf.model.tied && name == "lm_head.weight";
      check(used.contains(&entry) || is_tied_head || is_harmless_tensor(name), ErrorCode::Data,
            "'{}' holds {}, which a {} of this config.json does not have: the two are of different "
            "models",
            entry.path, name, config.hf.architecture->name);
    }
  }

  // Elements [begin, begin + out.numel()) of a piece.
  void read_piece(const Piece& piece, int64_t begin, const Tensor& out) const {
    const auto& [path, file, entry] = piece.at;
    const int64_t size = size_of(entry.dtype);
    if (piece.from_one) {
      std::vector<float> values(static_cast<size_t>(out.numel()));
      const Tensor wide = Tensor::contiguous(values.data(), DType::F32, {out.numel()});
      read_elements(*file, entry.offset + begin * size, entry.dtype, wide);
      for (float& value : values) value += 1.0f;
      return convert_elements(wide, out);
    }
    if (!piece.transposed)
      return read_elements(*file, entry.offset + begin * size, entry.dtype, out);
    const std::lock_guard lock(mutex);
    const std::vector<std::byte>& bytes = turned_tensor(piece.at);
    convert_elements(Tensor::contiguous(const_cast<std::byte*>(bytes.data()) + begin * size,
                                        entry.dtype, {out.numel()}),
                     out);
  }

  // Holding the lock.
  const std::vector<std::byte>& turned_tensor(const FileEntry& at) const {
    const auto& [path, file, entry] = at;
    for (const Turned& kept : turned)
      if (kept.file == file && kept.offset == entry.offset) return kept.bytes;
    const int64_t size = size_of(entry.dtype);
    std::vector<std::byte> as_stored(static_cast<size_t>(entry.numel * size));
    file->read(entry.offset, as_stored);
    std::swap(turned[0], turned[1]);
    turned[1] = {file, entry.offset, std::vector<std::byte>(as_stored.size())};
    transpose(as_stored.data(), entry.shape[0], entry.shape[1], size, turned[1].bytes.data());
    return turned[1].bytes;
  }
};

HfFolder::HfFolder(std::shared_ptr<Storage> storage, const std::string& dir, HfConfigFile config)
    : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::move(storage);
  impl_->dir = dir;
  check_no_adapter(*impl_->storage, dir);
  impl_->config = std::move(config);
  impl_->open_files();
  impl_->map_tensors();
}

HfFolder::~HfFolder() = default;

const ModelConfig& HfFolder::model() const {
  return impl_->config.hf.model;
}

const Architecture& HfFolder::architecture() const {
  return *impl_->config.hf.architecture;
}

Origin HfFolder::origin() const {
  return {"Hugging Face", impl_->dir, architecture().name};
}

int64_t HfFolder::file_bytes() const {
  int64_t bytes = 0;
  for (const auto& file : impl_->files) bytes += file->size();
  return bytes;
}

DType HfFolder::dtype(const std::string& name) const {
  const std::vector<Piece>& pieces = impl_->pieces.at(name);
  DType widest = pieces[0].at.entry.dtype;
  for (const Piece& piece : pieces) {
    const DType dtype = piece.at.entry.dtype;
    if (size_of(dtype) > size_of(widest)) widest = dtype;
    const bool both_16_bit = dtype != widest && size_of(dtype) == size_of(widest);
    if (both_16_bit || piece.from_one) widest = DType::F32;
  }
  return widest;
}

void HfFolder::read(const std::string& name, ShardRange range, const Tensor& out) const {
  const Tensor flat = out.reshape({range.size()});
  int64_t first = 0;  // element of ours that the piece begins with
  for (const Piece& piece : impl_->pieces.at(name)) {
    const int64_t numel = piece.at.entry.numel;
    const int64_t begin = std::max(range.begin, first), end = std::min(range.end, first + numel);
    if (begin < end)
      impl_->read_piece(piece, begin - first,
                        flat.slice(0, begin - range.begin, end - range.begin));
    first += numel;
  }
}

void HfFolder::check_tied_head() const {
  const auto head = impl_->entries.find("lm_head.weight");
  if (!model().tied || head == impl_->entries.end()) return;
  const auto& [path, file, entry] = head->second;
  const std::vector<Piece>& embedding = impl_->pieces.at("embedding.weight");
  bool same = entry.shape == embedding[0].at.entry.shape;
  constexpr int64_t kChunk = 1 << 20;
  std::vector<float> a(kChunk), b(kChunk);
  for (int64_t at = 0; same && at < entry.numel; at += kChunk) {
    const int64_t count = std::min(kChunk, entry.numel - at);
    read_elements(*file, entry.offset + at * size_of(entry.dtype), entry.dtype,
                  Tensor::contiguous(a.data(), DType::F32, {count}));
    read("embedding.weight", {at, at + count}, Tensor::contiguous(b.data(), DType::F32, {count}));
    same = std::memcmp(a.data(), b.data(), static_cast<size_t>(count) * sizeof(float)) == 0;
  }
  check(same, ErrorCode::Data,
        "'{}': lm_head.weight differs from the embedding, although config.json ties them: set "
        "\"tie_word_embeddings\" to false there, if the head is a matrix of its own",
        path);
}

AuxiliaryFiles HfFolder::auxiliary_files(const std::string& given) const {
  Storage& storage = *impl_->storage;
  AuxiliaryFiles found;
  found.origin = origin();
  found.hf_files[std::string(kHfConfigName)] = impl_->config.text;
  std::vector<FileStopIds> stop_ids = {{impl_->config.path, impl_->config.hf.stop_ids}};
  if (const std::string path = impl_->path(kHfGenerationName); storage.exists(path)) {
    const std::string text = read_text(storage, path);
    stop_ids.push_back(read_stop_ids(text, path));
    found.hf_files[std::string(kHfGenerationName)] = text;
  }
  found.hf_files.merge(tokenizer_files_in(storage, impl_->dir));
  // Who reads its chat template, later, could not say where it came from.
  if (const auto file = found.hf_files.find("tokenizer_config.json"); file != found.hf_files.end())
    parse_object(file->second, impl_->path(file->first));
  warn_of_named_templates(storage, impl_->dir);
  found.stop_ids = merged_stop_ids(stop_ids, model().vocab);
  const std::string from = given.empty() ? impl_->dir : given;
  const auto tokenizer = given.empty() ? own_hf_tokenizer(storage, impl_->dir)
                                       : given_hf_tokenizer(storage, impl_->dir, given, found);
  check_vocabulary(
      *tokenizer, model().vocab, ErrorCode::Data,
      fmt::format("'{}' is of another model; give the right one as --tokenizer", from));
  if (tokenizer->kind() != "byte") found.tokenizer = tokenizer->serialize();
  return found;
}

bool is_kept_hf_file(std::string_view name) {
  return name == kHfConfigName || name == kHfGenerationName || is_hf_tokenizer_file(name);
}

bool is_hf_folder(Storage& storage, const std::string& path) {
  return storage.exists(join_path(path, kHfConfigName));
}

}  // namespace ingot
