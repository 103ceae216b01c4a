#include "model/paged_decoder.h"

#include <algorithm>
#include <bit>

#include "core/async/recorded_work.h"
#include "core/device/weights_at_rest.h"
#include "core/error/error.h"
#include "core/tensor/kv_page.h"
#include "model/host_logits.h"
#include "model/layer.h"
#include "model/norm.h"
#include "model/step_input.h"
#include "ops/axpy.h"
#include "ops/embedding.h"
#include "ops/memory.h"
#include "ops/packed_linear.h"
#include "ops/paged_attention.h"
#include "ops/rope.h"
#include "spec/rows/transformer_table.h"

namespace ingot {
namespace {

// Elements of a weight that are read at once: enough for a disk, few beside the packed weights.
constexpr int64_t kReadElements = int64_t{1} << 20;

// (N, 1, n, D) → (N, n, D)
Tensor without_time(const Tensor& heads) {
  Tensor rows = heads;
  rows.shape = {heads.shape[0], heads.shape[2], heads.shape[3]};
  rows.strides = {heads.strides[0], heads.strides[2], heads.strides[3]};
  return rows;
}

// Rows of a recorded run: few sizes, so that few graphs serve replies that come and go.
int64_t recorded_rows(int64_t rows) {
  constexpr int64_t kStep = 16;
  if (rows <= kStep) return std::bit_ceil(static_cast<uint64_t>(rows));
  return (rows + kStep - 1) / kStep * kStep;
}

}  // namespace

struct PagedDecoder::Impl {
  struct DecoderLayer {
    LayerWeights weights;
    PagedCache cache;
  };

  Impl(Context& context, const ModelConfig& model, const DecodeShape& dims,
       const PlacedTensors& tensors, std::string_view before_names)
      : ctx(context),
        config(model),
        shape(dims),
        placed(tensors),
        prefix(before_names),
        rope(rope_input(config, placed)),
        input(ctx, shape, placed, prefix),
        logits(ctx, try_row("likeliest"), config.softcap),
        recorded(make_recorded_work(ctx)) {
    rope.cos = try_row("rope.cos");
    rope.sin = try_row("rope.sin");
    for (int64_t i = 0; i < config.layers; ++i) {
      const auto of = [&](std::string_view what) { return weight(layer_name(i, what)); };
      layers.push_back({.weights = layer_parts<Operand>(of),
                        .cache = {row(layer_name(i, "cache")), config.kv_heads}});
    }
    shared = tensors_of(
        config, [&](std::string_view what) { return try_row("shared." + std::string(what)); });
    embedding = weight("embedding.weight");
    head = config.tied ? embedding : weight("head.weight");
    final_norm = {weight("final_norm.weight"), weight("final_norm.bias")};
    if (rope.cos.defined()) fill_rope();
  }

  Tensor row(std::string_view name) const { return placed.find(prefix + std::string(name)); }
  Tensor try_row(std::string_view name) const {
    return placed.try_find(prefix + std::string(name));
  }

  // Undefined if the model has no such parameter.
  Operand weight(const std::string& name) const {
    Operand operand;
    const Tensor memory = try_row(name);
    if (!memory.defined()) return operand;
    const TensorSpec& of = parameters[parameters.find(name)];
    if (is_packed(shape, of))
      operand.packed = {memory, packed_format(shape, of), of.shape[0], of.shape[1]};
    else
      operand.plain = memory;
    return operand;
  }

  // With dynamic scaling the frequencies depend on how long the sequence has become: row p is that
  // of a sequence which ends there, whatever run computes it.
  void fill_rope() {
    const RopeFrequencies frequencies = rope_frequencies(config.rope);
    if (config.rope.scaling != RopeScaling::Dynamic)
      return rope_table(ctx, frequencies, rope.cos, rope.sin);
    for (int64_t p = 0; p < shape.context; ++p)
      rope_table(ctx, frequencies, rope.cos.slice(0, p, p + 1), rope.sin.slice(0, p, p + 1), p);
  }

  void load(const ReadWeights& read) {
    for (const TensorSpec& row : parameters.rows()) {
      const Operand to = weight(row.name);
      const int64_t cols = row.shape[-1], rows = row.shape.numel() / cols;
      const int64_t step = std::max<int64_t>(1, kReadElements / cols);
      std::vector<float> values;
      for (int64_t begin = 0; begin < rows; begin += step) {
        const int64_t end = std::min(rows, begin + step);
        values.resize(static_cast<size_t>((end - begin) * cols));
        read(row.name, begin * cols, end * cols, values);
        const Tensor piece =
            Tensor::contiguous(values.data(), DType::F32, {end - begin, cols}, Device::cpu());
        if (to.is_packed())
          pack_rows(ctx, piece, begin, to.packed);
        else
          store(values, to.plain.reshape({rows, cols}).slice(0, begin, end));
      }
    }
  }

  void store(std::span<const float> values, const Tensor& to) {
    if (to.dtype == DType::F32) return copy_from_host(ctx, values.data(), to);
    std::vector<Bf16> rounded(values.size());
    std::ranges::transform(values, rounded.begin(), Bf16::from_float);
    copy_from_host(ctx, rounded.data(), to);
  }

  void check_rows(std::span<const DecodeRows> sequences) const {
    int64_t rows = 0, logit_rows = 0;
    for (const DecodeRows& s : sequences) {
      const int64_t n = std::ssize(s.ids), end = s.first_position + n;
      check(n > 0 && 0 <= s.num_logits && s.num_logits <= n, ErrorCode::Internal,
            "decoding expected at least one id and 0 to {} logits, got {}", n, s.num_logits);
      check(end <= shape.context, ErrorCode::Usage,
            "the sequence would be {} tokens long, the context holds {}: ask for fewer tokens or a "
            "shorter prompt",
            end, shape.context);
      check(end <= std::ssize(s.pages) * kPageTokens, ErrorCode::Internal,
            "decoding of {} tokens expected as many pages, got {}", end, s.pages.size());
      for (const int32_t page : s.pages)
        check(0 <= page && page < shape.pages, ErrorCode::Internal, "page {} is not among {}", page,
              shape.pages);
      rows += n;
      logit_rows += s.num_logits;
    }
    check(!sequences.empty() && std::ssize(sequences) <= shape.max_sequences &&
              rows <= shape.max_rows && logit_rows <= shape.max_logit_rows,
          ErrorCode::Internal, "decoding was given {} sequences, {} rows and {} rows of logits",
          sequences.size(), rows, logit_rows);
  }

  // The first n rows of each.
  LayerTensors activations(int64_t n) const {
    LayerTensors x = shared;
    const auto first_rows = [&](Tensor& whole) {
      if (whole.defined()) whole = whole.slice(0, 0, n);
    };
    for (Tensor* rows :
         {&x.residual, &x.attn_rstd, &x.qkv, &x.qk, &x.q_rstd, &x.k_rstd, &x.attn_out,
          &x.attn_post_rstd, &x.mid, &x.mlp_rstd, &x.up, &x.mlp_out, &x.mlp_post_rstd})
      first_rows(*rows);
    for (Operand* rows : {&x.attn_norm, &x.attn, &x.mlp_norm, &x.act}) first_rows(rows->plain);
    return x;
  }

  void embed(const Tensor& ids, const Tensor& positions, const Tensor& stream) {
    if (embedding.is_packed())
      unpack_rows(ctx, embedding.packed, ids, stream);
    else
      embedding_forward(ctx, ids, embedding.plain, stream);
    if (config.embedding_scale != 1.0) axpy(ctx, config.embedding_scale, stream, {}, stream);
    if (const Tensor learned = try_row("position.weight"); learned.defined())
      embedding_add(ctx, positions, learned, stream);
  }

  std::span<const float> run(std::span<const DecodeRows> sequences, FirstNotFinite* search) {
    check_rows(sequences);
    const WeightsAtRest at_rest(ctx);
    int64_t rows = 0, below = 0;
    bool one_each = search == nullptr && !shape.packed;
    std::vector<bool> is_likeliest;
    for (const DecodeRows& s : sequences) {
      rows += std::ssize(s.ids);
      one_each = one_each && s.ids.size() == 1 && s.num_logits == 1;
      const bool of_gpu = !shape.packed && s.likeliest_below > 0;
      if (of_gpu) below = s.likeliest_below;
      is_likeliest.insert(is_likeliest.end(), static_cast<size_t>(s.num_logits), of_gpu);
    }
    if (one_each) {
      const int64_t n = std::min(recorded_rows(rows), most_recorded);
      input.send(sequences, n);
      recorded->run(fmt::format("{} {}", n, below), [&] {
        const LayerTensors x = activations(n);
        run_layers(x, nullptr);
        head_logits(x.residual, below, nullptr);
      });
    } else {
      input.send(sequences, rows);
      const LayerTensors x = activations(rows);
      run_layers(x, search);
      if (!is_likeliest.empty()) head_logits(wanted_rows(sequences, x.residual), below, search);
    }
    logits.read(row("logits").slice(0, 0, std::ssize(is_likeliest)), is_likeliest);
    return logits.rows();
  }

  void run_layers(const LayerTensors& x, FirstNotFinite* search) {
    const int64_t n = x.residual.shape[0];
    const Tensor positions = input.positions();
    embed(input.tokens(), positions, x.residual);
    if (search != nullptr) search->look("embedding", x.residual);
    const Layer layer(config, n, 1);
    const PagedBatch batch = input.batch();
    RopeInput own_rope = rope;
    own_rope.positions = positions.reshape({n, 1});
    AttentionOptions attention = attention_options(config);
    for (size_t i = 0; i < layers.size(); ++i) {
      const DecoderLayer& l = layers[i];
      attention.window = config.window_of(static_cast<int64_t>(i));
      const LayerPass pass{.w = l.weights, .x = x, .rope = own_rope, .attention = attention};
      const HeadViews heads = layer.attention().project_qkv(ctx, pass);
      paged_attention_forward(ctx, without_time(heads.q), without_time(heads.k),
                              without_time(heads.v), l.cache, batch, attention,
                              x.attn.plain.reshape({n, config.heads, config.head_dim}));
      layer.attention().output(ctx, pass);
      layer.mlp().hidden(ctx, pass);
      layer.leave(ctx, pass, x.residual);
      if (search != nullptr) search->look_at_layer(static_cast<int64_t>(i), x, x.residual);
    }
  }

  // (Σ num_logits, C) of the residual stream (n, C).
  Tensor wanted_rows(std::span<const DecodeRows> sequences, const Tensor& residual) {
    const Tensor wanted = row("final_residual");  // (max_logit_rows, C)
    int64_t rows = 0, end = 0;
    for (const DecodeRows& s : sequences) {
      end += std::ssize(s.ids);
      if (s.num_logits == 0) continue;
      copy(ctx, residual.slice(0, end - s.num_logits, end),
           wanted.slice(0, rows, rows + s.num_logits));
      rows += s.num_logits;
    }
    return wanted.slice(0, 0, rows);
  }

  // Of rows (R, C) of the residual stream → the row "logits"; with `below` also their likeliest
  // ids.
  void head_logits(const Tensor& residual, int64_t below, FirstNotFinite* search) {
    const int64_t R = residual.shape[0];
    const Tensor normed = row("final_norm").slice(0, 0, R);  // (R, C)
    const Tensor rstd = row("final_rstd").slice(0, 0, R);    // (R)
    norm_forward(ctx, residual, final_norm, config.norm_eps, normed, rstd);
    if (search != nullptr) search->look_at_final_norm(config.layers, normed, rstd);
    const Tensor values = row("logits").slice(0, 0, R);  // (R, V)
    linear_forward(ctx, normed, {head, {}}, values);
    if (search != nullptr) search->look("logits", values);
    if (below > 0) top_logits(ctx, values, below, config.softcap, row("likeliest").slice(0, 0, R));
  }

  void copy_page(int32_t from, int32_t to) {
    for (const DecoderLayer& l : layers) {
      const Tensor& pages = l.cache.pages;  // (pages, page_elements)
      copy(ctx, pages.slice(0, from, from + 1), pages.slice(0, to, to + 1));
    }
  }

  Context& ctx;
  const ModelConfig config;
  const DecodeShape shape;
  const PlacedTensors& placed;
  const std::string prefix;
  const TensorTable parameters = transformer_parameters(config);
  RopeInput rope;
  std::vector<DecoderLayer> layers;
  LayerTensors shared;  // of max_rows rows
  Operand embedding, head;
  Affine<Operand> final_norm;
  // A run of one row for each sequence, and how many rows that may be.
  const int64_t most_recorded =
      std::min({shape.max_sequences, shape.max_rows, shape.max_logit_rows});
  StepInput input;
  HostLogits logits;
  std::unique_ptr<RecordedWork> recorded;
};

PagedDecoder::PagedDecoder(Context& ctx, const ModelConfig& config, const DecodeShape& shape,
                           const PlacedTensors& placed, std::string_view prefix)
    : impl_(std::make_unique<Impl>(ctx, config, shape, placed, prefix)) {}
PagedDecoder::~PagedDecoder() = default;

void PagedDecoder::load(const ReadWeights& read) {
  impl_->load(read);
}
std::span<const float> PagedDecoder::run(std::span<const DecodeRows> sequences,
                                         FirstNotFinite* search) {
  return impl_->run(sequences, search);
}
bool PagedDecoder::is_finite(int64_t logit_row) const {
  return impl_->logits.is_finite(logit_row);
}
const TopLogits* PagedDecoder::likeliest(int64_t logit_row) const {
  return impl_->logits.likeliest(logit_row);
}
void PagedDecoder::copy_page(int32_t from, int32_t to) {
  impl_->copy_page(from, to);
}
Context& PagedDecoder::context() {
  return impl_->ctx;
}
const ModelConfig& PagedDecoder::config() const {
  return impl_->config;
}
const DecodeShape& PagedDecoder::shape() const {
  return impl_->shape;
}

}  // namespace ingot
