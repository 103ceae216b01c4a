#include "infer/model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "core/tensor/kv_page.h"

namespace ingot {
namespace {

struct Text {
  AuxiliaryFiles files;
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<int32_t> stop_ids = {};
  int32_t first_id = -1;
};

Text text_of(const OpenModel& model) {
  Text text{.files = model.auxiliary_files(), .tokenizer = nullptr};
  text.tokenizer = tokenizer_of(text.files);
  const int32_t bos = text.tokenizer->bos();
  text.stop_ids = stop_ids_of(text.files, *text.tokenizer);
  if (bos >= 0 && std::ranges::find(text.stop_ids, bos) == text.stop_ids.end())
    text.stop_ids.push_back(bos);
  if (text_ends_of(text.files, *text.tokenizer).bos) text.first_id = bos;
  return text;
}

// With fewer pages where those of all sequences do not fit into what is free: requests then wait.
DecodeShape shape_that_fits(const Context& ctx, const ModelConfig& config,
                            const ModelOptions& options) {
  DecodeShape shape = decode_shape(ctx.facts, config, options);
  if (options.pages > 0) return shape;
  const int64_t most = available_memory(ctx.device) / 10 * 9;
  const int64_t needed = plan_memory(transformer_decode_table(config, shape)).total_bytes;
  const int64_t page_bytes =
      config.layers * page_elements(config.kv_heads, config.head_dim) * size_of(cache_dtype(shape));
  const int64_t too_many = needed > most ? (needed - most) / page_bytes + 1 : 0;
  shape.pages = std::max(shape.pages / shape.max_sequences, shape.pages - too_many);
  return shape;
}

}  // namespace

struct LoadedModel::Impl {
  Impl(Context& context, std::unique_ptr<OpenModel> open, const ModelOptions& options)
      : source(std::move(open)),
        config(source->info().model),
        shape(shape_that_fits(context, config, options)),
        placed(transformer_decode_table(config, shape), context.device),
        ctx(context) {
    ctx.workspace = Workspace(placed.find("workspace"));
    decoder.emplace(ctx, config, shape, placed);
    decoder->load([&](const std::string& name, int64_t begin, int64_t end, std::span<float> to) {
      source->weights().read(name, {begin, end},
                             Tensor::contiguous(to.data(), DType::F32, {end - begin}));
    });
  }

  // Ids of which there is no text are never drawn.
  ReplyEngine& own_engine() {
    if (!engine) {
      EngineOptions how{.pool = ctx.pool};
      if (has_text()) how.drawn_vocab = text->tokenizer->vocab_size();
      engine.emplace(*decoder, how);
    }
    return *engine;
  }

  bool has_text() {
    try {
      own_text();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Data) throw;
    }
    return text.has_value();
  }

  const Text& own_text() {
    if (!text) text = text_of(*source);
    return *text;
  }

  std::unique_ptr<OpenModel> source;
  const ModelConfig config;
  const DecodeShape shape;
  const PlacedTensors placed;
  Context ctx;
  std::optional<PagedDecoder> decoder;
  std::optional<ReplyEngine> engine;
  std::optional<Text> text;  // once it is wanted: ids need none
};

LoadedModel::LoadedModel(Context& ctx, std::shared_ptr<Storage> storage, const std::string& path,
                         const ModelOptions& options)
    : impl_(std::make_unique<Impl>(ctx, open_model(std::move(storage), path), options)) {}
LoadedModel::~LoadedModel() = default;

const CheckpointInfo& LoadedModel::info() const {
  return impl_->source->info();
}
const ModelConfig& LoadedModel::config() const {
  return impl_->config;
}
const DecodeShape& LoadedModel::shape() const {
  return impl_->shape;
}
int64_t LoadedModel::allocated_bytes() const {
  return impl_->placed.allocated_bytes();
}
void LoadedModel::make_resident() {
  const Tensor memory = impl_->placed.device_memory();
  if (memory.device.kind != DeviceKind::Cpu) return;  // it is
  constexpr int64_t kSystemPage = 4096;
  for (int64_t at = 0; at < memory.bytes(); at += kSystemPage) {
    volatile char* const byte = static_cast<char*>(memory.data) + at;
    *byte = *byte;
  }
}
ReplyEngine& LoadedModel::engine() {
  return impl_->own_engine();
}
PagedDecoder& LoadedModel::decoder() {
  return *impl_->decoder;
}
const Tokenizer& LoadedModel::tokenizer() const {
  return *impl_->own_text().tokenizer;
}
const std::vector<int32_t>& LoadedModel::stop_ids() const {
  return impl_->own_text().stop_ids;
}
const AuxiliaryFiles& LoadedModel::auxiliary_files() const {
  return impl_->own_text().files;
}
ChatFiles LoadedModel::chat_files() const {
  return chat_files_of(auxiliary_files());
}
int32_t LoadedModel::first_id() const {
  return impl_->own_text().first_id;
}

std::vector<int32_t> LoadedModel::prompt_ids(std::string_view text) const {
  std::vector<int32_t> ids;
  if (first_id() >= 0) ids.push_back(first_id());
  tokenizer().encode(text, ids);
  // What a model without BOS has seen before the first token of a document.
  const int32_t before = tokenizer().eos() >= 0 ? tokenizer().eos() : tokenizer().bos();
  if (ids.empty() && before >= 0) ids.push_back(before);
  check(!ids.empty(), ErrorCode::Usage,
        "the tokenizer has neither BOS nor EOS, so that an empty prompt has nothing to begin with: "
        "give a prompt");
  return ids;
}

}  // namespace ingot
