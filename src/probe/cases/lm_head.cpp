#include <algorithm>

#include "ops/lm_head.h"
#include "ops/memory.h"
#include "ops/reduce.h"
#include "probe/op_case.h"
#include "probe/values.h"

namespace ingot {
namespace {

// loss(1) = Σ losses(N), since the op's gradient is that of a scaled sum. `weight_scale` is the
// standard deviation of w.
OpCase head_case(std::string name, OpInput targets, int64_t V, int64_t C, LossOptions options,
                 double weight_scale = 1.0) {
  const int64_t N = targets.shape[0];
  OpCase c;
  c.op = "lm_head";
  c.name = std::move(name);
  targets.type = DType::I32;
  c.inputs = {{.name = "h", .shape = {N, C}},
              {.name = "w", .shape = {V, C}, .scale = weight_scale, .wide_gradient = true},
              std::move(targets)};
  c.outputs = {{.name = "losses", .shape = {N}, .differentiable = false, .wide = true},
               {.name = "loss", .shape = {1}, .wide = true}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    lm_head_loss_forward(ctx, t.at("h"), t.at("w"), t.at("targets"), options, t.at("losses"));
    const double loss = sum(ctx, t.at("losses"));
    write_values(ctx, t.at("loss"), {&loss, 1});
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const double d_loss = read_values(ctx, t.at("d.loss"))[0];
    const Tensor scale = ctx.workspace.take(DType::F64, {1});
    copy_from_host(ctx, &d_loss, scale);
    lm_head_loss_backward(ctx, t.at("h"), t.at("w"), t.at("targets"), options, scale,
                          t.at("losses"), t.at("d.h"), t.at("d.w"), Accumulate::Yes);
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return align_up(size_of(DType::F64)) +
           lm_head_workspace_bytes(ctx.facts, dtype, std::min(N, options.chunk), V);
  };
  // Forward computes the logits once, backward again with both gradients.
  c.flops = 8.0 * static_cast<double>(N) * static_cast<double>(V) * static_cast<double>(C);
  c.elements = static_cast<double>(3 * N * C + 2 * V * C);
  c.wide_bytes = 4.0 * static_cast<double>(2 * V * C);
  return c;
}

// The same if two ranks hold the rows of w before `split` and from it on: each computes its logits
// and their statistics, all-gathers the statistics, and finishes its own part.
OpCase shards_case(std::string name, OpInput targets, int64_t V, int64_t C, LossOptions options,
                   int64_t split, double weight_scale = 1.0) {
  OpCase c = head_case(std::move(name), std::move(targets), V, C, options, weight_scale);
  const int64_t N = c.inputs[0].shape[0];
  c.op = "lm_head_shards";
  const auto wide_of = [](DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; };
  const auto logits_of = [=](const Context& ctx, DType dtype) {
    return ctx.facts.kind == DeviceKind::Cuda ? dtype : wide_of(dtype);
  };
  // Σ losses in "losses"; and f(shard's first row, its end, dlogits) where there is a scale.
  const auto run = [=](Context& ctx, const OpTensors& t, const Tensor& scale, const auto& f) {
    const Workspace::Scope scope(ctx.workspace);
    const DType dtype = t.at("h").dtype;
    const Tensor logits = ctx.workspace.take(logits_of(ctx, dtype), {N, V});
    const Tensor statistics = ctx.workspace.take(wide_of(dtype), {2, N, 3});
    const int64_t bounds[] = {0, split, V};
    for (int64_t s = 0; s < 2; ++s) {
      const Tensor part = logits.slice(1, bounds[s], bounds[s + 1]);  // (N, V_local)
      linear_forward(ctx, t.at("h"), t.at("w").slice(0, bounds[s], bounds[s + 1]), part);
      cross_entropy_statistics(ctx, part, t.at("targets"), bounds[s], options,
                               statistics.slice(0, s, s + 1).reshape({N, 3}));
    }
    for (int64_t s = 0; s < 2; ++s) {
      const Tensor part = logits.slice(1, bounds[s], bounds[s + 1]);
      cross_entropy_from_statistics(ctx, part, t.at("targets"), bounds[s], options, statistics,
                                    scale, t.at("losses"));
      f(bounds[s], bounds[s + 1], part);
    }
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    run(ctx, t, /*scale=*/{}, [](int64_t, int64_t, const Tensor&) {});
    const double loss = sum(ctx, t.at("losses"));
    write_values(ctx, t.at("loss"), {&loss, 1});
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Workspace::Scope scope(ctx.workspace);
    const double d_loss = read_values(ctx, t.at("d.loss"))[0];
    const Tensor scale = ctx.workspace.take(DType::F64, {1});
    copy_from_host(ctx, &d_loss, scale);
    run(ctx, t, scale, [&](int64_t first, int64_t end, const Tensor& dlogits) {
      linear_backward_weight(ctx, dlogits, t.at("h"), t.at("d.w").slice(0, first, end),
                             Accumulate::Yes);
      linear_backward_input(ctx, dlogits, t.at("w").slice(0, first, end), t.at("d.h"),
                            Accumulate::Yes);
    });
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return align_up(size_of(DType::F64)) + align_up(N * V * size_of(logits_of(ctx, dtype))) +
           align_up(2 * N * 3 * size_of(wide_of(dtype))) + matmul_workspace_bytes(ctx.facts);
  };
  return c;
}

OpInput random_targets(int64_t N, int64_t V) {
  return {.name = "targets",
          .shape = {N},
          .fill = OpInput::Fill::Tokens,
          .scale = static_cast<double>(V)};
}

std::vector<OpCase> small_cases() {
  const OpInput ignoring{.name = "targets", .shape = {5}, .values = {3, -1, 22, 0, 7}};
  return {head_case("lm_head_ignore_n5_v23_c9", ignoring, 23, 9, {}),
          head_case("lm_head_zloss_n7_v19_c6_chunk3", random_targets(7, 19), 19, 6,
                    {.z_loss = 0.02, .chunk = 3}),
          head_case("lm_head_softcap_n5_v23_c9", ignoring, 23, 9,
                    {.z_loss = 0.01, .softcap = 4.0, .chunk = 2}),
          shards_case("lm_head_shards_ignore_n5_v23_c9", ignoring, 23, 9, {}, 9),
          shards_case("lm_head_shards_softcap_n5_v23_c9", ignoring, 23, 9,
                      {.z_loss = 0.01, .softcap = 4.0}, 5)};
}

std::vector<OpCase> large_cases() {
  // Logits of deviation 1, as early in training; larger ones would test bf16's rounding of them.
  return {head_case("lm_head_n300_v1000_c256_chunk128", random_targets(300, 1000), 1000, 256,
                    {.z_loss = 1e-4, .chunk = 128}, 1.0 / 16.0),
          head_case("lm_head_n64_v32000_c64", random_targets(64, 32000), 32000, 64, {}, 1.0 / 8.0),
          head_case("lm_head_softcap_n128_v1000_c256", random_targets(128, 1000), 1000, 256,
                    {.softcap = 4.0, .chunk = 64}, 1.0 / 16.0),
          shards_case("lm_head_shards_n128_v1000_c256", random_targets(128, 1000), 1000, 256,
                      {.z_loss = 1e-4}, 496, 1.0 / 16.0),
          shards_case("lm_head_shards_softcap_n64_v1000_c64", random_targets(64, 1000), 1000, 64,
                      {.softcap = 4.0}, 501, 1.0 / 8.0)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {head_case("lm_head", random_targets(s.N(), s.V), s.V, s.C, {.chunk = s.loss_chunk})};
}

}  // namespace

OpCaseSet lm_head_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
