#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/exchange/open_weights.h"
#include "checkpoint/exchange/stop_ids.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "infer/generate.h"
#include "model/decoder.h"
#include "plan/workspace.h"
#include "spec/rows/transformer_table.h"
#include "spec/table/placed_tensors.h"

namespace ingot {
namespace {

// Prompt tokens per chunk: enough rows to make the GEMMs efficient, few enough that the activations
// stay small.
constexpr int64_t kPromptChunk = 64;

struct Text {
  explicit Text(std::unique_ptr<Tokenizer> from) : tokenizer(std::move(from)) {}
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<int32_t> stop_ids = {};  // BOS too
};

}  // namespace

struct Generator::Impl {
  // Compute is F32 whatever the run trained in: the checkpoint holds the F32 masters.
  Impl(Context& ctx, std::unique_ptr<OpenModel> open, int64_t wanted_context)
      : source(std::move(open)),
        model(source->info().model),
        context(wanted_context > 0 ? wanted_context : model.context),
        placed(transformer_infer_table(
                   model, DType::F32, context, kPromptChunk,
                   infer_workspace_bytes(ctx.facts, model, DType::F32, context, kPromptChunk)),
               ctx.device),
        ctx_(ctx) {
    ctx_.workspace = Workspace(placed.find("workspace"));
    const TensorTable parameters = transformer_parameters(model);
    for (const TensorSpec& row : parameters.rows())
      read_weight(ctx_, source->weights(), row.name, placed.find(row.name));
    decoder = std::make_unique<Decoder>(ctx_, model, context, kPromptChunk, placed);
  }

  // Once text is wanted: logits of ids need none.
  const Text& text() {
    if (own_text) return *own_text;
    const AuxiliaryFiles auxiliary_files = source->auxiliary_files();
    own_text.emplace(tokenizer_of(auxiliary_files));
    own_text->stop_ids = stop_ids_of(auxiliary_files, *own_text->tokenizer);
    if (own_text->tokenizer->bos() >= 0) own_text->stop_ids.push_back(own_text->tokenizer->bos());
    return *own_text;
  }

  // What a document begins with in the data that a model is trained on, and the prompt: BOS; where
  // the tokenizer has none, an empty prompt begins after the EOS of the document before.
  std::vector<int32_t> start_of(const std::string& prompt) {
    const Tokenizer& tokenizer = *text().tokenizer;
    std::vector<int32_t> ids = tokenizer.encode(prompt);
    const int32_t first = tokenizer.bos() < 0 && ids.empty() ? tokenizer.eos() : tokenizer.bos();
    if (first >= 0) ids.insert(ids.begin(), first);
    check(!ids.empty(), ErrorCode::Usage,
          "the tokenizer has neither BOS nor EOS, so that an empty prompt has nothing to begin "
          "with: give a --prompt");
    return ids;
  }
  // The logits after `sequence`, of which the decoder has all but the last `count` tokens. Throws
  // ErrorCode::Numeric where they are not finite, naming the first activation that is not. Zeros
  // are what is left where squares in a norm overflow: they are looked into once.
  std::span<const float> append(std::span<const int32_t> sequence, size_t count) {
    const std::span<const float> logits = decoder->append(sequence.last(count));
    const bool is_zero =
        !knows_zeros && std::ranges::all_of(logits, [](float x) { return x == 0; });
    if (decoder->is_finite() && !is_zero) return logits;
    knows_zeros |= is_zero;
    const bool was_finite = decoder->is_finite();
    FirstNotFinite search(ctx_);
    decoder->reset();
    const std::span<const float> again = decoder->append(sequence, &search);
    check(was_finite && search.found().empty(), ErrorCode::Numeric,
          "{}, at token {}; the weights are damaged or training diverged",
          search.found().empty() ? "logits: not finite" : search.found(), sequence.size());
    log::warn("zero_logits", {{"token", std::to_string(sequence.size())},
                              {"why",
                               "every logit is 0, so that every id is as likely as any other: "
                               "the weights of the head, or of what it reads, are zero"}});
    return again;
  }

  // The last new token need not lie in the cache.
  int64_t room_after(const std::vector<int32_t>& ids) const {
    return std::max<int64_t>(0, context + 1 - static_cast<int64_t>(ids.size()));
  }

  std::unique_ptr<OpenModel> source;
  ModelConfig model;
  int64_t context;
  std::optional<Text> own_text;
  PlacedTensors placed;
  Context ctx_;
  std::unique_ptr<Decoder> decoder;
  bool knows_zeros = false;
};

Generator::Generator(Context& ctx, std::shared_ptr<Storage> storage, const std::string& dir,
                     int64_t context) {
  auto model = open_model(std::move(storage), dir);
  check(context <= model->info().model.context, ErrorCode::Usage,
        "the model was built for a context of {} tokens, {} were asked for",
        model->info().model.context, context);
  impl_ = std::make_unique<Impl>(ctx, std::move(model), context);
}

Generator::~Generator() = default;

const ModelConfig& Generator::model() const {
  return impl_->model;
}
const Tokenizer& Generator::tokenizer() const {
  return *impl_->text().tokenizer;
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
  for (size_t t = 1; t <= ids.size(); ++t) take(impl_->append(ids.first(t), 1));
}

std::vector<int32_t> Generator::generate(const std::string& prompt, int64_t num_tokens,
                                         const SamplingOptions& options, const OnToken& on_token) {
  const auto& [tokenizer_ptr, stop_ids] = impl_->text();
  const Tokenizer& tokenizer = *tokenizer_ptr;
  const std::vector<int32_t> ids = impl_->start_of(prompt);
  check(num_tokens <= impl_->room_after(ids), ErrorCode::Usage,
        "{} prompt tokens and {} new ones exceed the context of {}: ask for at most {}", ids.size(),
        num_tokens, impl_->context, impl_->room_after(ids));

  impl_->decoder->reset();
  std::vector<int32_t> sequence = ids, generated;
  // A model may have more ids than its tokenizer (a vocabulary rounded up): those are never chosen.
  const auto known = static_cast<size_t>(std::min(tokenizer.vocab_size(), impl_->model.vocab));
  std::span<const float> logits = impl_->append(sequence, sequence.size());
  while (static_cast<int64_t>(generated.size()) < num_tokens) {
    const auto position = static_cast<int64_t>(generated.size());
    const int32_t id = sample_token(logits.first(known), options, position);
    if (std::ranges::find(stop_ids, id) != stop_ids.end()) break;
    generated.push_back(id);
    // The first piece after BOS may lose a leading space; the others stand as they are.
    const bool after_bos = position == 0 && prompt.empty();
    const std::string text =
        after_bos ? tokenizer.decode(std::vector{ids.front(), id}) : tokenizer.decode(id);
    if (!on_token(id, text) || position + 1 == num_tokens) break;
    sequence.push_back(id);
    logits = impl_->append(sequence, 1);
  }
  return generated;
}

}  // namespace ingot
