#include "checkpoint/exchange/gguf/weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/elements.h"
#include "checkpoint/exchange/gguf/config.h"
#include "checkpoint/exchange/gguf/header.h"
#include "checkpoint/exchange/gguf/model.h"
#include "checkpoint/exchange/gguf/vocabulary.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/exchange/hf/tokenizer.h"
#include "core/error/error.h"
#include "spec/model/transformer_parameters.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace ingot {
namespace {

constexpr char kHead[] = "output.weight", kEmbedding[] = "token_embd.weight";
constexpr char kDivisors[] = "rope_freqs.weight";

DType dtype_of(GgufType type) {
  switch (type) {
    case GgufType::F16:
      return DType::F16;
    case GgufType::BF16:
      return DType::BF16;
    default:
      return DType::F32;
  }
}

// Elements [begin, begin + out.numel()) of a tensor in blocks, which it need not begin or end with.
void read_q8_0(const ReadableFile& file, const GgufEntry& entry, int64_t begin, const Tensor& out) {
  constexpr int64_t kBlockBytes = 2 + kGgufBlock, kBlocksAtOnce = 1 << 12;
  const int64_t end = begin + out.numel();
  std::vector<std::byte> bytes;
  std::vector<float> values;
  for (int64_t at = begin; at < end;) {
    const int64_t block = at / kGgufBlock;
    const int64_t blocks = std::min((end + kGgufBlock - 1) / kGgufBlock - block, kBlocksAtOnce);
    bytes.resize(static_cast<size_t>(blocks * kBlockBytes));
    values.resize(static_cast<size_t>(blocks * kGgufBlock));
    file.read(entry.offset + block * kBlockBytes, bytes);
    for (int64_t i = 0; i < blocks; ++i) {
      const std::byte* from = bytes.data() + i * kBlockBytes;
      uint16_t bits = 0;
      std::memcpy(&bits, from, sizeof(bits));
      const float scale = F16{bits}.to_float();
      for (int64_t j = 0; j < kGgufBlock; ++j)
        values[static_cast<size_t>(i * kGgufBlock + j)] =
            scale * static_cast<float>(static_cast<int8_t>(from[2 + j]));
    }
    const int64_t stop = std::min(end, (block + blocks) * kGgufBlock);
    convert_elements(
        Tensor::contiguous(values.data() + (at - block * kGgufBlock), DType::F32, {stop - at}),
        out.slice(0, at - begin, stop - begin));
    at = stop;
  }
}

// The byte tokenizer goes out as BPE that merges nothing.
bool is_byte_tokenizer(const std::string& file) {
  constexpr size_t kMostBytes = 1 << 16;
  if (!file.starts_with('{') || file.size() > kMostBytes) return false;
  const Json json = parse_object(file, "the tokenizer");
  if (!is_byte_level_bpe(json)) return false;
  BpeModel model = bpe_model_from(json, "the tokenizer");
  model.post_processor.clear();
  return to_tokenizer_json(model) == to_tokenizer_json(byte_bpe_model());
}

}  // namespace

struct GgufWeights::Impl {
  std::shared_ptr<Storage> storage;
  std::string path;
  std::unique_ptr<ReadableFile> file;
  GgufHeader header;
  GgufModel gguf;
  std::map<std::string, std::vector<const GgufEntry*>> pieces;  // by our name

  const GgufEntry* find(const std::string& name) const {
    const auto found = header.tensors.find(name);
    return found == header.tensors.end() ? nullptr : &found->second;
  }

  void read_piece(const GgufEntry& entry, int64_t begin, const Tensor& out) const {
    if (entry.tensor.type == GgufType::Q8_0) return read_q8_0(*file, entry, begin, out);
    const DType dtype = dtype_of(entry.tensor.type);
    read_elements(*file, entry.offset + begin * size_of(dtype), dtype, out);
  }

  // Some writers give a tied head once more.
  bool is_tied() const {
    const GgufEntry *head = find(kHead), *embedding = find(kEmbedding);
    if (head == nullptr || embedding == nullptr) return head == nullptr;
    if (head->tensor.shape != embedding->tensor.shape ||
        head->tensor.type != embedding->tensor.type)
      return false;
    constexpr int64_t kChunk = 1 << 20;
    std::vector<std::byte> a, b;
    const int64_t bytes = gguf_bytes(head->tensor);
    for (int64_t at = 0; at < bytes; at += kChunk) {
      a.resize(static_cast<size_t>(std::min(kChunk, bytes - at)));
      b.resize(a.size());
      file->read(head->offset + at, a);
      file->read(embedding->offset + at, b);
      if (a != b) return false;
    }
    return true;
  }

  std::vector<float> divisors() const {
    const GgufEntry* entry = find(kDivisors);
    if (entry == nullptr) return {};
    constexpr int64_t kMost = 1 << 16;
    const int64_t count = entry->tensor.shape.numel();
    check(count <= kMost, ErrorCode::Data, "{} has {} elements, expected half of a head's width",
          kDivisors, count);
    std::vector<float> values(static_cast<size_t>(count));
    read_piece(*entry, 0, Tensor::contiguous(values.data(), DType::F32, {count}));
    return values;
  }

  void map_tensors() {
    std::set<const GgufEntry*> used = {find(kDivisors)};
    if (gguf.model.tied) used.insert(find(kHead));
    const std::vector<TensorRow> rows = gguf_rows(gguf.architecture->gguf);
    const TensorTable parameters = transformer_parameters(gguf.model);
    for (const TensorSpec& row : parameters.rows()) {
      for (const ForeignTensor& tensor : foreign_tensors_of(row, rows)) {
        const GgufEntry* found = find(tensor.name);
        check(found != nullptr, ErrorCode::Data,
              "it has no tensor {}, which a {} of its metadata has", tensor.name,
              gguf.architecture->gguf);
        check(found->tensor.shape == tensor.shape, ErrorCode::Data,
              "{} has the shape {}, expected {} by its metadata", tensor.name, found->tensor.shape,
              tensor.shape);
        pieces[row.name].push_back(found);
        used.insert(found);
      }
    }
    for (const auto& [name, entry] : header.tensors)
      check(used.contains(&entry), ErrorCode::Data,
            "it holds {}, which a {} of its metadata does not have: it is of another model",
            name.substr(0, 100), gguf.architecture->gguf);
  }
};

GgufWeights::GgufWeights(std::shared_ptr<Storage> storage, const std::string& path)
    : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::move(storage);
  impl_->path = path;
  impl_->file = impl_->storage->open_once(path);
  impl_->header = read_gguf_header(*impl_->file, path);
  try {
    impl_->gguf = gguf_model_of(impl_->header, impl_->divisors(), impl_->is_tied());
    impl_->map_tensors();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Data && error.code() != ErrorCode::Config) throw;
    throw Error(ErrorCode::Data, fmt::format("'{}': {}", path, error.what()));
  }
  warn_of_ignored_keys(impl_->header, impl_->gguf.architecture->gguf);
}

GgufWeights::~GgufWeights() = default;

const ModelConfig& GgufWeights::model() const {
  return impl_->gguf.model;
}

Origin GgufWeights::origin() const {
  return {"GGUF", impl_->path, impl_->gguf.architecture->name};
}

int64_t GgufWeights::file_bytes() const {
  return impl_->file->size();
}

DType GgufWeights::dtype(const std::string& name) const {
  const auto& pieces = impl_->pieces.at(name);
  const DType first = dtype_of(pieces[0]->tensor.type);
  const bool alike = std::ranges::all_of(
      pieces, [&](const GgufEntry* piece) { return dtype_of(piece->tensor.type) == first; });
  return alike ? first : DType::F32;
}

void GgufWeights::read(const std::string& name, ShardRange range, const Tensor& out) const {
  const Tensor flat = out.reshape({range.size()});
  int64_t first = 0;  // element of ours that the piece begins with
  for (const GgufEntry* piece : impl_->pieces.at(name)) {
    const int64_t numel = piece->tensor.shape.numel();
    const int64_t begin = std::max(range.begin, first), end = std::min(range.end, first + numel);
    if (begin < end)
      impl_->read_piece(*piece, begin - first,
                        flat.slice(0, begin - range.begin, end - range.begin));
    first += numel;
  }
}

AuxiliaryFiles GgufWeights::auxiliary_files(const std::string& tokenizer) const {
  AuxiliaryFiles found;
  found.origin = origin();
  try {
    GgufText text = gguf_text_of(impl_->header, tokenizer.empty());
    std::erase_if(text.stop_ids, [&](int32_t id) { return id >= model().vocab; });
    found.stop_ids = std::move(text.stop_ids);
    if (!is_byte_tokenizer(text.tokenizer)) found.tokenizer = std::move(text.tokenizer);
    if (!text.config.empty()) found.hf_files["tokenizer_config.json"] = text.config;
    if (!text.chat_template.empty()) found.hf_files["chat_template.jinja"] = text.chat_template;
  } catch (const Error& error) {
    throw Error(ErrorCode::Data, fmt::format("'{}': {}", impl_->path, error.what()));
  }
  const auto own =
      tokenizer.empty() ? tokenizer_of(found) : load_tokenizer(*impl_->storage, tokenizer);
  check_vocabulary(*own, model().vocab, ErrorCode::Data,
                   fmt::format("'{}' is of another model; give the right one as --tokenizer",
                               tokenizer.empty() ? impl_->path : tokenizer));
  if (own->kind() != "byte") found.tokenizer = own->serialize();
  return found;
}

}  // namespace ingot
