#include <algorithm>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "infer/generate.h"
#include "model/decoder.h"
#include "plan/workspace.h"
#include "spec/llama_table.h"
#include "spec/placed_tensors.h"

namespace ingot {
namespace {

// Prompt tokens processed at once: enough rows to make the products efficient, few enough that the
// activations stay small.
constexpr int64_t kPromptChunk = 64;

}  // namespace

struct Generator::Impl {
  // Compute is F32 whatever the run trained in: the checkpoint holds the F32 masters.
  Impl(Context& ctx, const CheckpointReader& reader, Storage& storage, int64_t wanted_context)
      : model(reader.info().model),
        context(wanted_context > 0 ? wanted_context : model.context),
        tokenizer(load_tokenizer(storage, reader.info().tokenizer)),
        placed(llama_infer_table(
                   model, DType::F32, context, kPromptChunk,
                   infer_workspace_bytes(ctx.facts, model, DType::F32, context, kPromptChunk)),
               ctx.device),
        ctx_(ctx) {
    ctx_.workspace = Workspace(placed.find("workspace"));
    const TensorTable parameters = llama_parameters(model);
    for (const TensorSpec& row : parameters.rows())
      read_tensor(ctx_, reader, "weight", row.name, {0, row.shape.numel()}, placed.find(row.name));
    decoder = std::make_unique<Decoder>(ctx_, model, context, kPromptChunk, placed);
  }

  // BOS, where there is one, and the prompt.
  std::vector<int32_t> start_of(const std::string& prompt) const {
    std::vector<int32_t> ids;
    if (tokenizer->bos() >= 0) ids.push_back(tokenizer->bos());
    const std::vector<int32_t> encoded = tokenizer->encode(prompt);
    ids.insert(ids.end(), encoded.begin(), encoded.end());
    return ids;
  }
  // The last new token need not lie in the cache.
  int64_t room_after(const std::vector<int32_t>& ids) const {
    return std::max<int64_t>(0, context + 1 - static_cast<int64_t>(ids.size()));
  }

  ModelConfig model;
  int64_t context;
  std::unique_ptr<Tokenizer> tokenizer;
  PlacedTensors placed;
  Context ctx_;
  std::unique_ptr<Decoder> decoder;
};

Generator::Generator(Context& ctx, std::shared_ptr<Storage> storage, const std::string& dir,
                     int64_t context) {
  const CheckpointReader reader(storage, resolve_checkpoint(storage, dir));
  check(context <= reader.info().model.context, ErrorCode::Usage,
        "the model was built for a context of {} tokens, {} were asked for",
        reader.info().model.context, context);
  impl_ = std::make_unique<Impl>(ctx, reader, *storage, context);
}

Generator::~Generator() = default;

const ModelConfig& Generator::model() const {
  return impl_->model;
}
const Tokenizer& Generator::tokenizer() const {
  return *impl_->tokenizer;
}

int64_t Generator::room_after(const std::string& prompt) const {
  return impl_->room_after(impl_->start_of(prompt));
}

void Generator::logits(std::span<const int32_t> ids,
                       const std::function<void(std::span<const float>)>& take) {
  for (const int32_t id : ids)
    check(0 <= id && id < impl_->model.vocab, ErrorCode::Usage,
          "ids of tokens: expected 0 to {}, got {}", impl_->model.vocab - 1, id);
  impl_->decoder->reset();
  for (size_t t = 0; t < ids.size(); ++t) take(impl_->decoder->append(ids.subspan(t, 1)));
}

std::vector<int32_t> Generator::generate(const std::string& prompt, int64_t num_tokens,
                                         const SamplingOptions& options, const OnToken& on_token) {
  const Tokenizer& tokenizer = *impl_->tokenizer;
  const std::vector<int32_t> ids = impl_->start_of(prompt);
  check(!ids.empty(), ErrorCode::Usage, "this tokenizer has no BOS: give a --prompt to start from");
  check(num_tokens <= impl_->room_after(ids), ErrorCode::Usage,
        "{} prompt tokens and {} new ones exceed the context of {}: ask for at most {}", ids.size(),
        num_tokens, impl_->context, impl_->room_after(ids));

  impl_->decoder->reset();
  std::vector<int32_t> generated;
  // A model may have more ids than its tokenizer (a vocabulary rounded up): those are never chosen.
  const auto known = static_cast<size_t>(std::min(tokenizer.vocab_size(), impl_->model.vocab));
  std::span<const float> logits = impl_->decoder->append(ids);
  while (static_cast<int64_t>(generated.size()) < num_tokens) {
    const auto position = static_cast<int64_t>(generated.size());
    const int32_t id = sample_token(logits.first(known), options, position);
    if (id == tokenizer.bos() || id == tokenizer.eos()) break;
    generated.push_back(id);
    // The first piece after BOS may lose a leading space; the others stand as they are.
    const bool after_bos = position == 0 && prompt.empty();
    const std::string text = after_bos ? tokenizer.decode(std::vector<int32_t>{tokenizer.bos(), id})
                                       : tokenizer.decode(id);
    if (!on_token(id, text) || position + 1 == num_tokens) break;
    logits = impl_->decoder->append({&generated.back(), 1});
  }
  return generated;
}

}  // namespace ingot
