#include "checkpoint/exchange/llama2c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/elements.h"
#include "checkpoint/hashed_file.h"
#include "checkpoint/new_output.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "spec/model/model_settings.h"
#include "spec/model/transformer_parameters.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian, as read");

constexpr int64_t kHeaderBytes = 7 * sizeof(int32_t);
constexpr int64_t kFloatBytes = sizeof(float);

// A run of the file's floats: the next ones of a parameter, or of none (rotary tables).
struct Piece {
  std::string name;
  int64_t first = 0;  // element of the parameter
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

using Header = std::array<int32_t, 7>;

ModelConfig model_of(const Header& header, const std::string& path) {
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

Header header_of(const ModelConfig& m) {
  const auto field = [](int64_t value) { return static_cast<int32_t>(value); };
  return {field(m.dim),    field(m.ffn),      field(m.layers),
          field(m.heads),  field(m.kv_heads), field(m.tied ? m.vocab : -m.vocab),
          field(m.context)};
}

ModelConfig read_header(const ReadableFile& file, const std::string& path) {
  check(file.size() >= kHeaderBytes, ErrorCode::Data,
        "'{}' is no llama2.c model: expected at least {} bytes, got {}", path, kHeaderBytes,
        file.size());
  Header header;
  file.read(0, std::as_writable_bytes(std::span(header)));
  return model_of(header, path);
}

// The file as a list of pieces, in its order.
class FileLayout {
 public:
  explicit FileLayout(const ModelConfig& m) {
    const int64_t C = m.dim, F = m.ffn, V = m.vocab, HD = m.heads * m.head_dim;
    const int64_t GD = m.kv_heads * m.head_dim;
    add("embedding.weight", 0, V * C);
    layers_ = m.layers;
    add_layers("attn_norm.weight", 0, C);
    add_layers("qkv.weight", 0, HD * C);              // wq (H·D, C)
    add_layers("qkv.weight", HD * C, GD * C);         // wk (G·D, C)
    add_layers("qkv.weight", (HD + GD) * C, GD * C);  // wv (G·D, C)
    add_layers("out.weight", 0, C * HD);
    add_layers("mlp_norm.weight", 0, C);
    add_layers("up.weight", 0, F * C);  // w1, the gate
    add_layers("down.weight", 0, C * F);
    add_layers("up.weight", F * C, F * C);  // w3
    add("final_norm.weight", 0, C);
    add("", 0, m.context * m.head_dim);  // cosines, then sines, (context, D/2) each
    if (!m.tied) add("head.weight", 0, V * C);
  }

  int64_t file_bytes() const { return kHeaderBytes + end_ * kFloatBytes; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  void add(const std::string& name, int64_t first, int64_t numel) {
    pieces_.push_back({name, first, end_, numel});
    end_ += numel;
  }
  void add_layers(std::string_view what, int64_t first, int64_t numel) {
    for (int64_t layer = 0; layer < layers_; ++layer) add(layer_name(layer, what), first, numel);
  }

  std::vector<Piece> pieces_;
  int64_t layers_ = 0;
  int64_t end_ = 0;  // in floats
};

// Readers of the format compute them anew, but expect their bytes.
std::vector<float> rotary_tables(const ModelConfig& m) {
  const int64_t half = m.head_dim / 2;
  std::vector<float> tables(static_cast<size_t>(m.context * m.head_dim));
  for (int64_t position = 0; position < m.context; ++position) {
    for (int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) /
          std::pow(m.rope.theta, 2.0 * static_cast<double>(i) / static_cast<double>(m.head_dim));
      const auto at = static_cast<size_t>(position * half + i);
      tables[at] = static_cast<float>(std::cos(angle));
      tables[at + tables.size() / 2] = static_cast<float>(std::sin(angle));
    }
  }
  return tables;
}

}  // namespace

Llama2cFile::Llama2cFile(std::shared_ptr<Storage> storage, const std::string& path)
    : storage_(std::move(storage)),
      path_(path),
      file_(storage_->open(path)),
      model_(read_header(*file_, path)) {
  const int64_t expected = FileLayout(model_).file_bytes();
  check(file_->size() == expected, ErrorCode::Data,
        "'{}' does not match its header: expected {} bytes, got {}; get the file again", path,
        expected, file_->size());
}

void Llama2cFile::read(const std::string& name, ShardRange range, const Tensor& out) const {
  const Tensor flat = out.reshape({range.size()});
  const FileLayout layout(model_);
  for (const Piece& piece : layout.pieces()) {
    if (piece.name != name) continue;
    const int64_t begin = std::max(range.begin, piece.first);
    const int64_t end = std::min(range.end, piece.first + piece.numel);
    if (begin >= end) continue;
    const int64_t at = kHeaderBytes + (piece.begin + begin - piece.first) * kFloatBytes;
    read_elements(*file_, at, DType::F32, flat.slice(0, begin - range.begin, end - range.begin));
  }
}

AuxiliaryFiles Llama2cFile::auxiliary_files(const std::string& tokenizer) const {
  check(!tokenizer.empty(), ErrorCode::Data,
        "'{}': a llama2.c file has no tokenizer in it: import it with --tokenizer and its "
        "tokenizer.bin",
        path_);
  const auto loaded = load_tokenizer(*storage_, tokenizer);
  check_vocabulary(*loaded, model_.vocab, ErrorCode::Data,
                   fmt::format("'{}' is of another model", tokenizer));
  // Programs of this format read a piece for every id.
  check(loaded->vocab_size() == model_.vocab, ErrorCode::Data,
        "'{}' is of another model: expected {} tokens, got {}", tokenizer, model_.vocab,
        loaded->vocab_size());
  return {.tokenizer = loaded->serialize(), .origin = origin()};
}

bool is_llama2c_file(Storage& storage, const std::string& path) {
  if (!path.ends_with(".bin")) return false;
  try {
    return storage.open(path) != nullptr;
  } catch (const Error&) {
    return false;  // a folder, or nothing: who opens it says so
  }
}

void export_llama2c(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                    const std::string& out_dir) {
  check_new_folder(storage, out_dir);
  const auto interleaved = with_rope_style(weights, RopeStyle::Interleaved);
  ModelConfig model = interleaved->model(), said = model_of(header_of(model), out_dir);
  said.init_std = model.init_std;
  const std::vector<Setting> theirs = model_settings(said), ours = model_settings(model);
  for (size_t i = 0; i < ours.size(); ++i)
    check(theirs[i].get() == ours[i].get(), ErrorCode::Config,
          "llama2.c has no word for {} = {}, only for {}; use --to hf", ours[i].name,
          toml_text(ours[i].get()), toml_text(theirs[i].get()));
  const FileLayout layout(model);
  NewFolder folder(storage, out_dir);
  HashedFile file(storage, join_path(folder.path(), "model.bin"));
  const Header header = header_of(model);
  file.append(std::as_bytes(std::span(header)));
  for (const Piece& piece : layout.pieces()) {
    if (piece.name.empty()) {
      const std::vector<float> tables = rotary_tables(model);
      file.append(std::as_bytes(std::span(tables)));
      continue;
    }
    for_each_piece(*interleaved, piece.name, {piece.first, piece.first + piece.numel}, DType::F32,
                   [&](const Tensor& values) { file.append(bytes_of(values)); });
  }
  file.finish();
  const auto tokenizer = tokenizer_of(auxiliary_files);
  if (tokenizer->kind() == "llama2c")
    write_file_atomically(storage, join_path(folder.path(), "tokenizer.bin"),
                          auxiliary_files.tokenizer);
  folder.publish();
  if (tokenizer->kind() != "llama2c")
    log::warn(
        "tokenizer_left_out",
        {{"out", out_dir},
         {"why", fmt::format("llama2.c's tokenizer.bin cannot say what a tokenizer of kind {} "
                             "does: only model.bin is written; --to hf takes both",
                             tokenizer->kind())}});
}

}  // namespace ingot
