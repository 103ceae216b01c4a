#include "checkpoint/exchange/gguf/export.h"

#include "checkpoint/exchange/gguf/model.h"
#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/new_output.h"
#include "core/error/error.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

uint32_t file_type(GgufType type) {
  switch (type) {
    case GgufType::F32:
      return 0;
    case GgufType::F16:
      return 1;
    case GgufType::Q8_0:
      return 7;
    case GgufType::BF16:
      return 32;
  }
  throw Error(ErrorCode::Internal, "unknown GGUF type");
}

GgufType type_of(const TensorSpec& row, GgufType wanted) {
  if (row.shape.rank() < 2 || row.name == "position.weight") return GgufType::F32;
  if (wanted == GgufType::Q8_0 && row.shape[1] % kGgufBlock != 0) return GgufType::F16;
  return wanted;
}

// The tensors of the file, and where each comes from.
struct Contents {
  struct Source {
    std::string parameter;
    ShardRange range;
  };
  std::vector<GgufTensor> tensors;
  std::vector<Source> sources;

  void add(std::string name, const Shape& shape, GgufType type, Source source) {
    tensors.push_back({std::move(name), shape, type});
    sources.push_back(std::move(source));
  }
};

Contents contents_of(const ModelConfig& model, const std::string& gguf, GgufType type) {
  Contents contents;
  const std::vector<TensorRow> rows = gguf_rows(gguf);
  const TensorTable parameters = transformer_parameters(model);
  for (const TensorSpec& row : parameters.rows()) {
    int64_t first = 0;
    for (const ForeignTensor& tensor : foreign_tensors_of(row, rows)) {
      const ShardRange range = {first, first + tensor.shape.numel()};
      contents.add(tensor.name, tensor.shape, type_of(row, type), {row.name, range});
      first = range.end;
    }
  }
  if (model.tied && gguf_writes_tied_head(gguf)) {
    const TensorSpec& row = parameters[parameters.find("embedding.weight")];
    contents.add("output.weight", row.shape, type_of(row, type),
                 {row.name, {0, row.shape.numel()}});
  }
  return contents;
}

}  // namespace

void export_gguf(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                 const std::string& path, GgufType type, NewFile::Existing existing) {
  const Architecture& architecture =
      architecture_of(weights.model(), auxiliary_files.origin.architecture);
  const auto styled = with_rope_style(weights, gguf_rope_style(architecture.gguf));
  const ModelConfig& model = styled->model();
  check_gguf_model(model, architecture);

  // No general.name: llama.cpp treats texts as Phi-3 does where it says "phi3".
  GgufMetadata metadata;
  metadata.add("general.architecture", architecture.gguf);
  metadata.add_u32("general.file_type", file_type(type));
  metadata.add_u32("general.quantization_version", kGgufQuantizationVersion);
  add_gguf_model(metadata, model, architecture);
  add_gguf_tokenizer(metadata, auxiliary_files, model.vocab);

  Contents contents = contents_of(model, architecture.gguf, type);
  const std::vector<float> divisors = gguf_rope_divisors(model);
  if (!divisors.empty())
    contents.tensors.push_back({"rope_freqs.weight", {static_cast<int64_t>(divisors.size())}});

  NewFile file(storage, path, existing);
  write_gguf(storage, file.path(), metadata, contents.tensors, [&](size_t i, const auto& put) {
    if (i == contents.sources.size()) return put(divisors);
    const auto& [parameter, range] = contents.sources[i];
    for_each_piece(*styled, parameter, range, DType::F32, [&](const Tensor& piece) {
      put({piece.as<float>(), static_cast<size_t>(piece.numel())});
    });
  });
  file.publish();
}

}  // namespace ingot
