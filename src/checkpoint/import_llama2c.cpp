#include "checkpoint/import_llama2c.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/manifest.h"
#include "core/error.h"
#include "spec/llama_table.h"
#include "spec/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian, as read");

constexpr int64_t kHeaderBytes = 7 * sizeof(int32_t);
constexpr int64_t kFloatBytes = sizeof(float);

// A run of the file's floats.
struct Piece {
  int64_t begin = 0;
  int64_t numel = 0;
};

// Each field's largest plausible value: garbage is refused before it is multiplied.
int64_t header_field(const char* name, int64_t value, int64_t max, const std::string& path) {
  check(1 <= value && value <= max, ErrorCode::Data,
        "'{}' is no llama2.c model: its header gives {} = {}, expected 1 to {}", path, name, value,
        max);
  return value;
}

ModelConfig read_header(const ReadableFile& file, const std::string& path) {
  check(file.size() >= kHeaderBytes, ErrorCode::Data,
        "'{}' is no llama2.c model: expected at least {} bytes, got {}", path, kHeaderBytes,
        file.size());
  std::array<int32_t, 7> header;
  file.read(0, std::as_writable_bytes(std::span(header)));
  ModelConfig model;
  model.dim = header_field("dim", header[0], 1 << 17, path);
  model.ffn = header_field("hidden", header[1], 1 << 20, path);
  model.layers = header_field("layers", header[2], 1 << 12, path);
  model.heads = header_field("heads", header[3], 1 << 12, path);
  model.kv_heads = header_field("KV heads", header[4], 1 << 12, path);
  // A negative vocabulary says that the output head has weights of its own.
  model.tied = header[5] > 0;
  model.vocab = header_field("vocabulary", std::abs(int64_t{header[5]}), 1 << 24, path);
  model.context = header_field("sequence", header[6], 1 << 24, path);
  check(model.dim % model.heads == 0 && model.heads % model.kv_heads == 0, ErrorCode::Data,
        "'{}' is no llama2.c model: {} heads must divide dim {}, and {} KV heads the heads", path,
        model.heads, model.dim, model.kv_heads);
  model.head_dim = model.dim / model.heads;
  model.rope.style = RopeStyle::Interleaved;
  validate(model);
  return model;
}

// The pieces of the file that make up each of our tensors, in order.
class FileLayout {
 public:
  explicit FileLayout(const ModelConfig& m) {
    const int64_t C = m.dim, F = m.ffn, L = m.layers, V = m.vocab;
    const int64_t kv = m.kv_heads * m.head_dim;
    add("embedding.weight", V * C);
    add_layers(L, "attn_norm.weight", C);
    add_layers(L, "qkv.weight", C * C);   // wq (C, C)
    add_layers(L, "qkv.weight", kv * C);  // wk (G·D, C)
    add_layers(L, "qkv.weight", kv * C);  // wv (G·D, C)
    add_layers(L, "out.weight", C * C);
    add_layers(L, "mlp_norm.weight", C);
    const int64_t gate = end_;
    skip(L * F * C);
    add_layers(L, "down.weight", C * F);
    // Our fused rows are gate then up, but the file keeps w2 between them.
    const int64_t up = end_;
    skip(L * F * C);
    for (int64_t layer = 0; layer < L; ++layer) {
      auto& pieces = pieces_[layer_name(layer, "up.weight")];
      pieces.push_back({gate + layer * F * C, F * C});
      pieces.push_back({up + layer * F * C, F * C});
    }
    add("final_norm.weight", C);
    skip(m.context * m.head_dim);  // rotary tables, cosines and sines: computed, not stored, here
    if (!m.tied) add("head.weight", V * C);
  }

  int64_t file_bytes() const { return kHeaderBytes + end_ * kFloatBytes; }
  const std::vector<Piece>& pieces(const std::string& name) const { return pieces_.at(name); }

 private:
  void add(const std::string& name, int64_t numel) {
    pieces_[name].push_back({end_, numel});
    end_ += numel;
  }
  void add_layers(int64_t layers, std::string_view what, int64_t numel) {
    for (int64_t layer = 0; layer < layers; ++layer) add(layer_name(layer, what), numel);
  }
  void skip(int64_t numel) { end_ += numel; }

  std::map<std::string, std::vector<Piece>> pieces_;
  int64_t end_ = 0;  // in floats
};

}  // namespace

void import_llama2c(Storage& storage, const std::string& model_path,
                    const std::string& tokenizer_path, const std::string& out_dir) {
  const auto file = storage.open(model_path);
  RunConfig config;
  config.model = read_header(*file, model_path);
  const FileLayout layout(config.model);
  check(file->size() == layout.file_bytes(), ErrorCode::Data,
        "'{}' does not match its header: expected {} bytes, got {}; get the file again", model_path,
        layout.file_bytes(), file->size());
  const auto tokenizer = load_tokenizer(storage, tokenizer_path);
  check(tokenizer->vocab_size() == config.model.vocab, ErrorCode::Data,
        "'{}' is of another model: expected {} tokens, got {}", tokenizer_path, config.model.vocab,
        tokenizer->vocab_size());
  config.batch.seq = config.model.context;
  config.data.tokenizer = join_path(out_dir, kTokenizerName);

  std::vector<float> values;
  const auto weight = [&](const std::string& name) {
    values.clear();
    for (const Piece& piece : layout.pieces(name)) {
      const size_t at = values.size();
      values.resize(at + static_cast<size_t>(piece.numel));
      file->read(kHeaderBytes + piece.begin * kFloatBytes,
                 std::as_writable_bytes(std::span(values).subspan(at)));
    }
    return Tensor::contiguous(values.data(), DType::F32, {static_cast<int64_t>(values.size())});
  };
  export_weights(storage, out_dir, config, llama_parameters(config.model), weight,
                 tokenizer->serialize());
}

}  // namespace ingot
