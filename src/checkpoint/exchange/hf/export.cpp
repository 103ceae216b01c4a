#include "checkpoint/exchange/hf/export.h"

#include <nlohmann/json.hpp>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/elements.h"
#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/exchange/hf/tokenizer.h"
#include "checkpoint/new_output.h"
#include "checkpoint/safetensors.h"
#include "core/error/error.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

// A tensor to write, as elements of one of our parameters.
struct OutTensor {
  SafetensorsTensor there;
  std::string parameter;
  ShardRange range;
  bool transposed = false, from_one = false;
};

// The files, each within `file_bytes` unless one tensor is more.
std::vector<std::vector<OutTensor>> files_of(const Weights& weights,
                                             const Architecture& architecture,
                                             const HfExportOptions& options) {
  std::vector<std::vector<OutTensor>> files(1);
  int64_t bytes = 0;
  const TensorTable parameters = transformer_parameters(weights.model());
  for (const TensorSpec& row : parameters.rows()) {
    const DType dtype = options.dtype.value_or(weights.dtype(row.name));
    int64_t first = 0;
    for (const ForeignTensor& tensor : hf_tensors_of(row, architecture)) {
      const int64_t numel = tensor.shape.numel();
      if (bytes > 0 && bytes + numel * size_of(dtype) > options.file_bytes) {
        files.emplace_back();
        bytes = 0;
      }
      bytes += numel * size_of(dtype);
      files.back().push_back({{tensor.name, tensor.shape, dtype},
                              row.name,
                              {first, first + numel},
                              tensor.transposed,
                              tensor.from_one});
      first += numel;
    }
  }
  return files;
}

// What is read for it.
WeightsRange source_of(const OutTensor& tensor) {
  return {tensor.parameter, tensor.range, tensor.from_one ? DType::F32 : tensor.there.dtype};
}

// Its source is the next range of `pieces`.
void put_tensor(PieceReader& pieces, const OutTensor& tensor, const PutElements& put) {
  if (tensor.from_one)
    return pieces.next_range([&](const Tensor& piece) {
      float* values = piece.as<float>();
      for (int64_t i = 0; i < piece.numel(); ++i) values[i] -= 1.0f;
      std::vector<std::byte> bytes(
          static_cast<size_t>(piece.numel() * size_of(tensor.there.dtype)));
      const Tensor out = Tensor::contiguous(bytes.data(), tensor.there.dtype, {piece.numel()});
      convert_elements(piece, out);
      put(out);
    });
  if (!tensor.transposed) return pieces.next_range(put);
  const int64_t rows = tensor.there.shape[1], columns = tensor.there.shape[0];  // of ours
  std::vector<std::byte> whole, turned;
  pieces.next_range([&](const Tensor& piece) {
    const auto bytes = bytes_of(piece);
    whole.insert(whole.end(), bytes.begin(), bytes.end());
  });
  turned.resize(whole.size());
  transpose(whole.data(), rows, columns, size_of(tensor.there.dtype), turned.data());
  put(Tensor::contiguous(turned.data(), tensor.there.dtype, tensor.there.shape));
}

std::string file_name_of(size_t file, size_t num_files) {
  if (num_files == 1) return std::string(kHfWeightsName);
  return fmt::format("model-{:05}-of-{:05}.safetensors", file + 1, num_files);
}

void write_tensors(Storage& storage, const std::string& folder, const Weights& weights,
                   const std::vector<std::vector<OutTensor>>& files) {
  nlohmann::json index = {{"metadata", {{"total_size", 0}}}};
  int64_t total = 0;
  std::vector<WeightsRange> sources;
  for (const auto& file : files)
    for (const OutTensor& tensor : file) sources.push_back(source_of(tensor));
  PieceReader pieces(weights, std::move(sources));
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name = file_name_of(i, files.size());
    std::vector<SafetensorsTensor> tensors;
    for (const OutTensor& tensor : files[i]) {
      tensors.push_back(tensor.there);
      index["weight_map"][tensor.there.name] = name;
      total += tensor.there.shape.numel() * size_of(tensor.there.dtype);
    }
    // Without this word transformers refuses the file.
    write_safetensors(
        storage, join_path(folder, name), tensors,
        [&](size_t at, const PutElements& put) { put_tensor(pieces, files[i][at], put); },
        {{"format", "pt"}});
  }
  if (files.size() == 1) return;
  index["metadata"]["total_size"] = total;
  write_file_atomically(storage, join_path(folder, kHfIndexName), index.dump(2) + "\n");
}

std::string_view torch_name(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return "float64";
    case DType::BF16:
      return "bfloat16";
    case DType::F16:
      return "float16";
    default:
      return "float32";
  }
}

// The model's words, the tokens' ids, and what the file it came with says of neither.
std::string config_text(const Weights& weights, const Architecture& architecture, DType dtype,
                        const AuxiliaryFiles& auxiliary_files) {
  nlohmann::ordered_json config = hf_config_of(weights.model(), architecture);
  config["torch_dtype"] = torch_name(dtype);
  const auto kept = auxiliary_files.hf_files.find(std::string(kHfConfigName));
  if (kept != auxiliary_files.hf_files.end()) {
    const auto was = nlohmann::ordered_json::parse(kept->second, nullptr, false);
    if (was.is_object())
      for (const auto& [key, value] : was.items())
        if (is_harmless_config(key) && !config.contains(key) && key != "dtype") config[key] = value;
  } else {
    add_token_ids(config, auxiliary_files, *tokenizer_of(auxiliary_files));
  }
  return config.dump(2) + "\n";
}

}  // namespace

void export_hf(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
               const std::string& dir, const HfExportOptions& options) {
  check_new_folder(storage, dir);
  const auto halves = with_rope_style(weights, RopeStyle::HalfSplit);
  const Architecture& architecture =
      architecture_of(halves->model(), auxiliary_files.origin.architecture);
  const auto files = files_of(*halves, architecture, options);
  const auto small_files = hf_tokenizer_files(auxiliary_files);
  NewFolder folder(storage, dir);
  write_tensors(storage, folder.path(), *halves, files);
  for (const auto& [name, contents] : small_files)
    write_file_atomically(storage, join_path(folder.path(), name), contents);
  write_file_atomically(
      storage, join_path(folder.path(), kHfConfigName),
      config_text(*halves, architecture, files[0][0].there.dtype, auxiliary_files));
  folder.publish();
}

}  // namespace ingot
