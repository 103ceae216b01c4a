#include <algorithm>

#include "ops/lm_head.h"
#include "probe/cases.h"

namespace ingot {
namespace {

double scalar_of(const Tensor& t) {
  return t.dtype == DType::F64 ? *t.as<double>() : static_cast<double>(*t.as<float>());
}

template <class T>
void sum_into(const Tensor& losses, const Tensor& loss) {
  T sum = 0;
  for (int64_t n = 0; n < losses.numel(); ++n) sum += losses.as<T>()[n];
  *loss.as<T>() = sum;
}

// loss(1) = Σ losses(N), since the op's gradient is that of a scaled sum.
OpCase head_case(std::string name, OpInput targets, int64_t V, int64_t C, LossOptions options) {
  const int64_t N = targets.shape[0];
  OpCase c;
  c.op = "lm_head";
  c.name = std::move(name);
  targets.integer = true;
  c.inputs = {{.name = "h", .shape = {N, C}},
              {.name = "w", .shape = {V, C}, .wide_gradient = true},
              std::move(targets)};
  c.outputs = {{.name = "losses", .shape = {N}, .differentiable = false, .wide = true},
               {.name = "loss", .shape = {1}, .wide = true}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    lm_head_loss_forward(ctx, t.at("h"), t.at("w"), t.at("targets"), options, t.at("losses"));
    if (t.at("losses").dtype == DType::F64) {
      sum_into<double>(t.at("losses"), t.at("loss"));
    } else {
      sum_into<float>(t.at("losses"), t.at("loss"));
    }
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    lm_head_loss_backward(ctx, t.at("h"), t.at("w"), t.at("targets"), options,
                          scalar_of(t.at("d.loss")), t.at("losses"), t.at("d.h"), t.at("d.w"),
                          Accumulate::Yes);
  };
  c.workspace_bytes = [=](DType dtype, int) {
    return lm_head_workspace_bytes(dtype, std::min(N, options.chunk), V, C);
  };
  // Forward computes the logits once, backward again with both gradients.
  c.flops = 8.0 * static_cast<double>(N) * static_cast<double>(V) * static_cast<double>(C);
  c.bytes = 4.0 * static_cast<double>(3 * N * C + 4 * V * C);
  return c;
}

}  // namespace

std::vector<OpCase> lm_head_cases() {
  const OpInput ignoring{.name = "targets", .shape = {5}, .values = {3, -1, 22, 0, 7}};
  const OpInput random{.name = "targets", .shape = {7}, .fill = OpInput::Fill::Tokens, .scale = 19};
  return {head_case("lm_head_ignore_n5_v23_c9", ignoring, 23, 9, {}),
          head_case("lm_head_zloss_n7_v19_c6_chunk3", random, 19, 6, {.z_loss = 0.02, .chunk = 3}),
          head_case("lm_head_softcap_n5_v23_c9", ignoring, 23, 9,
                    {.z_loss = 0.01, .softcap = 4.0, .chunk = 2})};
}

std::vector<OpCase> lm_head_bench_cases() {
  using S = BenchShape;
  const OpInput targets{.name = "targets",
                        .shape = {S::N},
                        .fill = OpInput::Fill::Tokens,
                        .scale = static_cast<double>(S::V)};
  return {head_case("lm_head", targets, S::V, S::C, {})};
}

}  // namespace ingot
