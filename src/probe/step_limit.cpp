#include "probe/step_limit.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/error/error.h"
#include "ops/attention.h"
#include "ops/fp8.h"
#include "ops/matmul.h"
#include "probe/measure.h"
#include "probe/operands.h"
#include "probe/timing.h"
#include "spec/model/flops.h"
#include "spec/model/transformer_parameters.h"
#include "spec/rows/optimizer_states.h"

namespace ingot {
namespace {

constexpr int kRepeats = 5;

class LimitMeter {
 public:
  LimitMeter(const Context& ctx, const ModelConfig& config, const LimitShape& shape)
      : ctx_(ctx),
        config_(config),
        B_(shape.B),
        T_(shape.T),
        N_(shape.B * shape.T),
        chunk_(std::min(shape.loss_chunk, shape.B * shape.T)),
        compute_(shape.compute),
        fp8_(shape.fp8),
        fp8_head_(shape.fp8_head),
        optim_(shape.optim) {
    check(compute_ == DType::F32 || compute_ == DType::BF16, ErrorCode::Internal,
          "a step's limit is measured in f32 or bf16, got {}", name_of(compute_));
    ctx_.deterministic = false;  // the limit is the fastest kernel's
  }

  StepLimit run() {
    const ModelConfig& c = config_;
    limit_.peak_flops = measure_peak_flops(ctx_);
    limit_.copy_bytes_per_second = measure_copy_bandwidth(ctx_);
    linear("qkv", c.qkv_rows(), c.dim);
    linear("out", c.dim, c.heads * c.head_dim);
    linear("up", c.up_rows(), c.dim);
    linear("down", c.dim, c.ffn);
    head();
    attention();
    if (compute_ == DType::F32) {
      memory();
    } else {
      memory_as_in_pytorch();
    }
    optimizer();
    double flops = 0.0;
    for (const LimitPart& part : limit_.parts) {
      flops += part.flops;
      (part.flops > 0 ? limit_.gemm_seconds : limit_.memory_seconds) += part.seconds;
    }
    limit_.tokens_per_second =
        static_cast<double>(N_) / (limit_.gemm_seconds + limit_.memory_seconds);
    limit_.gemm_share = flops / limit_.gemm_seconds / limit_.peak_flops;
    return limit_;
  }

 private:
  using Seconds = std::array<double, 3>;  // forward, backward input, backward weight

  // The three GEMMs of n tokens with a weight (rows, columns), divided by n.
  Seconds seconds_per_token(int64_t n, int64_t rows, int64_t columns) {
    Operands operands(ctx_);
    Context ctx = operands.with_workspace(matmul_workspace_bytes(ctx_.facts));
    const Tensor x = operands.random(compute_, {n, columns});       // (N, C)
    const Tensor w = operands.random(compute_, {rows, columns});    // (R, C)
    const Tensor y = operands.random(compute_, {n, rows});          // (N, R)
    const Tensor dw = operands.zeros(DType::F32, {rows, columns});  // (R, C)
    const Tensor result = operands.zeros(compute_, {n, std::max(rows, columns)});
    const auto out = [&](int64_t width) {  // (N, width), so that operands stay as they were drawn
      return result.reshape({result.numel()}).slice(0, 0, n * width).reshape({n, width});
    };
    Seconds seconds = {
        best_seconds(ctx, kRepeats, [&] { linear_forward(ctx, x, w, out(rows)); }),
        best_seconds(ctx, kRepeats,
                     [&] { linear_backward_input(ctx, y, w, out(columns), Accumulate::No); }),
        best_seconds(ctx, kRepeats,
                     [&] { linear_backward_weight(ctx, y, x, dw, Accumulate::No); })};
    for (double& s : seconds) s /= static_cast<double>(n);
    return seconds;
  }

  // The same on 8-bit operands.
  Seconds fp8_seconds_per_token(int64_t n, int64_t rows, int64_t columns) {
    Operands operands(ctx_);
    Context ctx = operands.with_workspace(matmul_workspace_bytes(ctx_.facts));
    const auto rounded = [&](DType dtype, int64_t N, int64_t C) {
      const auto scalar = [&] { return operands.zeros(DType::F32, {1}); };
      const Quantized q{operands.zeros(dtype, {N, C}), operands.zeros(dtype, {C, N}), scalar(),
                        scalar(), scalar()};
      quantize_by_own_scale(ctx, operands.random(compute_, {N, C}), q);
      return q;
    };
    const Quantized x = rounded(DType::F8E4M3, n, columns);         // (N, C)
    const Quantized w = rounded(DType::F8E4M3, rows, columns);      // (R, C)
    const Quantized dy = rounded(DType::F8E5M2, n, rows);           // (N, R)
    const Tensor y = operands.zeros(compute_, {n, rows});           // (N, R)
    const Tensor dx = operands.zeros(compute_, {n, columns});       // (N, C)
    const Tensor dw = operands.zeros(DType::F32, {rows, columns});  // (R, C)
    Seconds seconds = {
        best_seconds(ctx, kRepeats, [&] { linear_forward(ctx, x, w, y); }),
        best_seconds(ctx, kRepeats, [&] { linear_backward_input(ctx, dy, w, dx, Accumulate::No); }),
        best_seconds(ctx, kRepeats,
                     [&] { linear_backward_weight(ctx, dy, x, dw, Accumulate::No); })};
    for (double& s : seconds) s /= static_cast<double>(n);
    return seconds;
  }

  // `calls` calls of a linear with a weight (rows, columns), together for `tokens` tokens.
  void add_linear(const std::string& name, int64_t calls, double tokens, int64_t rows,
                  int64_t columns, const Seconds& per_token) {
    const double flops = 2.0 * tokens * static_cast<double>(rows) * static_cast<double>(columns);
    constexpr const char* kPasses[] = {" forward", " backward input", " backward weight"};
    for (size_t i = 0; i < per_token.size(); ++i)
      limit_.parts.push_back({name + kPasses[i], calls, per_token[i] * tokens, flops, 0.0});
  }

  // A linear of every layer.
  void linear(const std::string& name, int64_t rows, int64_t columns) {
    const auto tokens = static_cast<double>(config_.layers * N_);
    const Seconds per_token =
        fp8_ ? fp8_seconds_per_token(N_, rows, columns) : seconds_per_token(N_, rows, columns);
    add_linear(name, config_.layers, tokens, rows, columns, per_token);
  }

  // The head in chunks, as the step runs it. Under BF16 also in more rows where that is faster,
  // since chunks are our choice and no limit; 8192 rows stand for all of them, whose logits may not
  // fit.
  void head() {
    constexpr int64_t kManyRows = 8192;
    const int64_t V = config_.vocab, C = config_.dim;
    const auto measured = [&](int64_t n) {
      return fp8_head_ ? fp8_seconds_per_token(n, V, C) : seconds_per_token(n, V, C);
    };
    Seconds best = measured(chunk_);
    const int64_t rows = std::min(N_, kManyRows);
    if (compute_ != DType::F32 && rows != chunk_) {
      const Seconds other = measured(rows);
      for (size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], other[i]);
    }
    add_linear("head", (N_ + chunk_ - 1) / chunk_, static_cast<double>(N_), V, C, best);
  }

  void attention() {
    std::map<int64_t, int64_t> layers;  // by window; 0: none, or one that hides nothing
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const int64_t window = config_.window_of(layer);
      ++layers[window < T_ ? window : 0];
    }
    for (const auto& [window, count] : layers) attention(window, count);
  }

  void attention(int64_t window, int64_t num_layers) {
    const ModelConfig& c = config_;
    const int64_t H = c.heads, G = c.kv_heads, D = c.head_dim;
    Operands operands(ctx_);
    const bool whole_rows = window == 0 && c.attn_softcap == 0.0;
    Context ctx = operands.with_workspace(attention_workspace_bytes(
        ctx_.facts, {compute_, B_, T_, T_, H, G, D, ctx_.deterministic, whole_rows}));
    const Shape queries{B_, T_, H, D}, keys{B_, T_, G, D};
    const Tensor q = operands.random(compute_, queries), dout = operands.random(compute_, queries);
    const Tensor k = operands.random(compute_, keys), v = operands.random(compute_, keys);
    const Tensor out = operands.zeros(compute_, queries), dq = operands.zeros(compute_, queries);
    const Tensor dk = operands.zeros(compute_, keys), dv = operands.zeros(compute_, keys);
    const Tensor lse = operands.zeros(DType::F32, {B_, H, T_});
    const AttentionTensors tensors{q, k, v, out, lse};

    AttentionOptions options;
    options.window = window;
    options.softcap = c.attn_softcap;
    const double pairs = static_cast<double>(B_ * H * T_ * D) * causal_keys(T_, window);
    const auto layers = static_cast<double>(num_layers);
    const double forward =
        best_seconds(ctx, kRepeats, [&] { attention_forward(ctx, tensors, options); });
    const double backward = best_seconds(ctx, kRepeats, [&] {
      attention_backward(ctx, tensors, {dout, dq, dk, dv}, options);
    });
    const std::string under = window > 0 ? fmt::format(", window {}", window) : "";
    limit_.parts.push_back(
        {"attention forward" + under, num_layers, layers * forward, layers * 4 * pairs, 0.0});
    limit_.parts.push_back(
        {"attention backward" + under, num_layers, layers * backward, layers * 8 * pairs, 0.0});
  }

  void add_memory(const char* name, int64_t calls, int64_t bytes_per_call) {
    const double bytes = static_cast<double>(calls) * static_cast<double>(bytes_per_call);
    limit_.parts.push_back({name, calls, bytes / limit_.copy_bytes_per_second, 0.0, bytes});
  }

  // F32: each memory-bound pass reads its inputs and writes its outputs once.
  void memory() {
    const ModelConfig& c = config_;
    const int64_t rotated = (c.heads + c.kv_heads) * c.head_dim;
    add_memory("residual + norm forward", 2 * c.layers + 1, 4 * 4 * N_ * c.dim);
    add_memory("residual + norm backward", 2 * c.layers + 1, 4 * 4 * N_ * c.dim);
    add_memory("rotation, both ways", 2 * c.layers, 4 * 2 * N_ * rotated);
    add_memory("activation forward", c.layers, 4 * N_ * (c.up_rows() + c.ffn));
    add_memory("activation backward", c.layers, 4 * N_ * (2 * c.up_rows() + c.ffn));
    add_memory("loss", 1, 4 * 2 * N_ * c.vocab);
    add_memory("embedding, both ways", 2, 4 * 2 * N_ * c.dim);
    add_memory("gradient norm", 1, 4 * parameter_count(c));
  }

  // BF16: the formulas of the limit that PyTorch's figures are judged by, which grants that the
  // rest is fused away.
  void memory_as_in_pytorch() {
    const ModelConfig& c = config_;
    add_memory("residual + norm forward", 2 * c.layers, 2 * 3 * N_ * c.dim);
    add_memory("residual + norm backward", 2 * c.layers, 2 * 3 * N_ * c.dim);
    add_memory("rotation, both ways", 2 * c.layers, 2 * 2 * N_ * c.qkv_rows());
    add_memory("activation forward", c.layers, 2 * N_ * (c.up_rows() + c.ffn));
    add_memory("activation backward", c.layers, 2 * N_ * (2 * c.up_rows() + c.ffn));
  }

  // The gradient is read, the weight and the states are read and written. The weight takes 4 bytes
  // under BF16 too: its BF16 half, which GEMMs read, and the other half (ops/halves.h).
  void optimizer() {
    const TensorTable parameters = transformer_parameters(config_);
    int64_t bytes = 0;
    for (const TensorSpec& parameter : parameters.rows()) {
      int64_t of_each = 4 + 2 * 4;
      for (const StateSpec& state : optimizer_states(optim_, compute_, parameter))
        of_each += 2 * size_of(state.dtype);
      bytes += of_each * parameter.shape.numel();
    }
    add_memory("optimizer", 1, bytes);
  }

  Context ctx_;
  const ModelConfig& config_;
  int64_t B_, T_, N_, chunk_;
  DType compute_;
  bool fp8_, fp8_head_;
  OptimConfig optim_;
  StepLimit limit_;
};

}  // namespace

StepLimit measure_step_limit(Context& ctx, const ModelConfig& config, const LimitShape& shape) {
  return LimitMeter(ctx, config, shape).run();
}

}  // namespace ingot
