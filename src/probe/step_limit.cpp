#include "probe/step_limit.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/arena.h"
#include "core/random.h"
#include "ops/attention.h"
#include "ops/matmul.h"
#include "probe/measure.h"

namespace ingot {
namespace {

// Owns the memory of the operands while they are timed.
class Operands {
 public:
  explicit Operands(int64_t bytes) : arena_(Device::cpu(), bytes) {}

  // A matrix of small random numbers: never time on zeros.
  Tensor random(Shape shape) {
    const Tensor tensor = arena_.place(used_, DType::F32, shape);
    used_ += align_up(tensor.bytes());
    auto* values = tensor.as<float>();
    const RandomStream stream(1, Purpose::Test);
    for (int64_t i = 0; i < tensor.numel(); ++i)
      values[i] = static_cast<float>(stream.uniform(static_cast<uint64_t>(i))) - 0.5f;
    return tensor;
  }
  static int64_t bytes(Shape shape) { return align_up(shape.numel() * 4); }

 private:
  Arena arena_;
  int64_t used_ = 0;
};

template <class Body>
double best_seconds(const Body& body) {
  using Clock = std::chrono::steady_clock;
  body();  // warm
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = Clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

class LimitMeter {
 public:
  LimitMeter(Context& ctx, const ModelConfig& config, int64_t B, int64_t T, int64_t loss_chunk)
      : ctx_(ctx), config_(config), B_(B), T_(T), N_(B * T), chunk_(std::min(loss_chunk, B * T)) {}

  StepLimit run() {
    const ModelConfig& c = config_;
    limit_.peak_flops = measure_peak_flops(ctx_);
    limit_.copy_bytes_per_second = measure_copy_bandwidth(ctx_);
    linear("qkv", N_, c.qkv_rows(), c.dim, c.layers);
    linear("out", N_, c.dim, c.heads * c.head_dim, c.layers);
    linear("up", N_, c.up_rows(), c.dim, c.layers);
    linear("down", N_, c.dim, c.ffn, c.layers);
    linear("head", chunk_, c.vocab, c.dim, N_ / chunk_);
    attention();
    memory();
    double flops = 0.0;
    for (const LimitPart& part : limit_.parts) {
      flops += part.flops;
      (part.flops > 0 ? limit_.product_seconds : limit_.memory_seconds) += part.seconds;
    }
    limit_.tokens_per_second =
        static_cast<double>(N_) / (limit_.product_seconds + limit_.memory_seconds);
    limit_.product_share = flops / limit_.product_seconds / limit_.peak_flops;
    return limit_;
  }

 private:
  // The three products of one linear, `calls` times a step.
  void linear(const std::string& name, int64_t n, int64_t rows, int64_t columns, int64_t calls) {
    Operands operands(Operands::bytes({n, columns}) + Operands::bytes({rows, columns}) +
                      Operands::bytes({n, rows}) + kArenaAlignment);
    const Tensor x = operands.random({n, columns});     // (N, C)
    const Tensor w = operands.random({rows, columns});  // (R, C)
    const Tensor y = operands.random({n, rows});        // (N, R)
    const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(rows) *
                         static_cast<double>(columns) * static_cast<double>(calls);
    auto add = [&](const char* what, const auto& body) {
      limit_.parts.push_back(
          {name + what, calls, best_seconds(body) * static_cast<double>(calls), flops, 0.0});
    };
    add(" forward", [&] { linear_forward(ctx_, x, w, y); });
    add(" backward input", [&] { linear_backward_input(ctx_, y, w, x, Accumulate::No); });
    add(" backward weight", [&] { linear_backward_weight(ctx_, y, x, w, Accumulate::No); });
  }

  void attention() {
    const ModelConfig& c = config_;
    const int64_t H = c.heads, G = c.kv_heads, D = c.head_dim;
    const int64_t scratch =
        attention_workspace_bytes(DType::F32, B_, T_, T_, H, G, D, ctx_.pool->num_threads());
    const Shape queries{B_, T_, H, D}, keys{B_, T_, G, D}, rows{B_, H, T_};
    Operands operands(4 * Operands::bytes(queries) + 4 * Operands::bytes(keys) +
                      Operands::bytes(rows) + align_up(scratch) + kArenaAlignment);
    const Tensor q = operands.random(queries), out = operands.random(queries);
    const Tensor dout = operands.random(queries), dq = operands.random(queries);
    const Tensor k = operands.random(keys), v = operands.random(keys);
    const Tensor dk = operands.random(keys), dv = operands.random(keys);
    const Tensor lse = operands.random(rows);
    Tensor memory = operands.random({(scratch + 3) / 4 + 1});
    memory = Tensor::contiguous(memory.data, DType::U8, {memory.bytes()});
    Context ctx = ctx_;
    ctx.workspace = Workspace(memory);

    AttentionOptions options;
    options.window = c.window;
    const double pairs = 0.5 * static_cast<double>(B_ * H) * static_cast<double>(T_) *
                         static_cast<double>(T_) * static_cast<double>(D);  // causal
    const auto layers = static_cast<double>(c.layers);
    limit_.parts.push_back(
        {"attention forward", c.layers,
         layers * best_seconds([&] { attention_forward(ctx, q, k, v, options, out, lse); }),
         layers * 4 * pairs, 0.0});
    limit_.parts.push_back({"attention backward", c.layers,
                            layers * best_seconds([&] {
                              attention_backward(ctx, dout, q, k, v, out, lse, options, dq, dk, dv);
                            }),
                            layers * 8 * pairs, 0.0});
  }

  // Each memory-bound pass reads its inputs and writes its outputs once.
  void memory() {
    const ModelConfig& c = config_;
    auto add = [&](const char* name, int64_t calls, int64_t elements) {
      const double bytes = 4.0 * static_cast<double>(calls) * static_cast<double>(elements);
      limit_.parts.push_back({name, calls, bytes / limit_.copy_bytes_per_second, 0.0, bytes});
    };
    const int64_t rotated = (c.heads + c.kv_heads) * c.head_dim;
    const int64_t parameters = parameter_count(c);
    add("residual + norm forward", 2 * c.layers + 1, 4 * N_ * c.dim);
    add("residual + norm backward", 2 * c.layers + 1, 4 * N_ * c.dim);
    add("rotation, both ways", 2 * c.layers, 2 * N_ * rotated);
    add("activation forward", c.layers, N_ * (c.up_rows() + c.ffn));
    add("activation backward", c.layers, N_ * (2 * c.up_rows() + c.ffn));
    add("loss", 1, 2 * N_ * c.vocab);
    add("embedding, both ways", 2, 2 * N_ * c.dim);
    add("gradient norm", 1, parameters);
    add("optimizer", 1, 7 * parameters);
  }

  Context& ctx_;
  const ModelConfig& config_;
  int64_t B_, T_, N_, chunk_;
  StepLimit limit_;
};

}  // namespace

StepLimit measure_step_limit(Context& ctx, const ModelConfig& config, int64_t B, int64_t T,
                             int64_t loss_chunk) {
  return LimitMeter(ctx, config, B, T, loss_chunk).run();
}

}  // namespace ingot
