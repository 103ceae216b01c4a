#include "infer/live_model.h"

#include <cstring>
#include <optional>
#include <utility>

#include "core/error/error.h"
#include "core/tensor/visit_dtype.h"
#include "ops/memory.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/block_use.h"

namespace ingot {
namespace {

// Elements [begin, end) of a weight, of any floating dtype.
void read_floats(Context& ctx, const Tensor& weight, int64_t begin, int64_t end,
                 std::span<float> values) {
  const Tensor piece = weight.reshape({weight.shape.numel()}).slice(0, begin, end);
  std::vector<std::byte> bytes(static_cast<size_t>((end - begin) * size_of(piece.dtype)));
  copy_to_host(ctx, piece, bytes.data());
  const bool known =
      visit_dtype<DType::F64, DType::F32, DType::BF16, DType::F16>(piece.dtype, [&](auto element) {
        for (size_t i = 0; i < values.size(); ++i) {
          std::memcpy(&element, bytes.data() + i * sizeof(element), sizeof(element));
          if constexpr (requires { element.to_float(); })
            values[i] = element.to_float();
          else
            values[i] = static_cast<float>(element);
        }
      });
  check(known, ErrorCode::Internal, "a live weight expected f64, f32, bf16 or f16, got {}",
        name_of(piece.dtype));
}

// Acquires the blocks of a store one after the other, as an evaluation does.
class BlockReader {
 public:
  BlockReader(ParameterStore& store, const ModelConfig& config)
      : store_(store), parameters_(transformer_parameters(config)), uses_(evaluation_uses(config)) {
    store_.begin(uses_, /*last=*/false);
    store_.acquire(uses_[at_]);
  }

  // In the order of transformer_parameters(), which is that of the blocks.
  Tensor weight(const std::string& name) {
    const TensorId id = parameters_.find(name);
    while (uses_[at_].block != parameters_[id].block) advance();
    return store_.weight(id);
  }

  // Every rank makes the same uses, also those that it read nothing of.
  void finish() {
    while (at_ + 1 < uses_.size()) advance();
    store_.release(uses_[at_]);
    store_.end();
  }

 private:
  void advance() {
    store_.release(uses_[at_]);
    check(++at_ < uses_.size(), ErrorCode::Internal,
          "weights were read out of their blocks' order");
    store_.acquire(uses_[at_]);
  }

  ParameterStore& store_;
  const TensorTable parameters_;
  const std::vector<BlockUse> uses_;
  size_t at_ = 0;
};

}  // namespace

struct LiveModel::Impl {
  Impl(const Context& context, const ModelConfig& model, const DecodeShape& dims,
       const PlacedTensors& placed, ParameterStore& store, const Tokenizer& tokenizer,
       std::vector<int32_t> ids)
      : config(model), shape(dims), stop_ids(std::move(ids)), ctx(context) {
    ctx.workspace = Workspace(placed.find(kScoringRows + std::string("workspace")));
    ctx.choices = nullptr;  // ranks score different items
    decoder.emplace(ctx, config, shape, placed, kScoringRows);
    BlockReader reader(store, config);
    decoder->load([&](const std::string& name, int64_t begin, int64_t end, std::span<float> to) {
      read_floats(ctx, reader.weight(name), begin, end, to);
    });
    reader.finish();
    engine.emplace(*decoder,
                   EngineOptions{.drawn_vocab = tokenizer.vocab_size(), .pool = ctx.pool});
  }

  const ModelConfig& config;
  const DecodeShape& shape;
  const std::vector<int32_t> stop_ids;
  Context ctx;
  std::optional<PagedDecoder> decoder;
  std::optional<ReplyEngine> engine;
};

LiveModel::LiveModel(const Context& ctx, const ModelConfig& config, const DecodeShape& shape,
                     const PlacedTensors& placed, ParameterStore& store, const Tokenizer& tokenizer,
                     std::vector<int32_t> stop_ids)
    : impl_(std::make_unique<Impl>(ctx, config, shape, placed, store, tokenizer,
                                   std::move(stop_ids))) {}
LiveModel::~LiveModel() = default;

ReplyEngine& LiveModel::engine() {
  return *impl_->engine;
}
const ModelConfig& LiveModel::config() const {
  return impl_->config;
}
const DecodeShape& LiveModel::shape() const {
  return impl_->shape;
}
const std::vector<int32_t>& LiveModel::stop_ids() const {
  return impl_->stop_ids;
}

}  // namespace ingot
