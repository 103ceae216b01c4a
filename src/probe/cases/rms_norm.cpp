#include "ops/rms_norm.h"
#include "probe/cases/norm_case.h"

namespace ingot {
namespace {

constexpr double kEps = 1e-5;

OpCase norm_case(std::string name, int64_t N, int64_t C) {
  OpCase c = norm_of_rows("rms_norm", std::move(name), N, C);
  c.forward = [](Context& ctx, const OpTensors& t) {
    rms_norm_forward(ctx, t.at("x"), t.at("weight"), kEps, t.at("y"), t.at("rstd"));
  };
  c.backward = [](Context& ctx, const OpTensors& t) {
    rms_norm_backward(ctx, t.at("d.y"), t.at("x"), t.at("weight"), t.at("rstd"), t.at("d.x"), false,
                      t.at("d.weight"));
  };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return rms_norm_backward_workspace_bytes(ctx.facts, N, C);
  };
  c.flops = static_cast<double>(12 * N * C);
  return c;
}

// The backward pass builds y again, over what is left of the forward's.
OpCase rebuild_case(std::string name, int64_t N, int64_t C) {
  OpCase c = norm_case(std::move(name), N, C);
  c.backward = [](Context& ctx, const OpTensors& t) {
    zero(ctx, t.at("y"));
    rms_norm_backward(ctx, t.at("d.y"), t.at("x"), t.at("weight"), t.at("rstd"), t.at("d.x"), false,
                      t.at("d.weight"), t.at("y"));
  };
  return c;
}

OpCase residual_case(std::string name, int64_t N, int64_t C) {
  return with_residual(norm_case(std::move(name), N, C), [](Context& ctx, const OpTensors& t) {
    rms_norm_backward(ctx, t.at("d.y"), t.at("x"), t.at("weight"), t.at("rstd"), t.at("d.x"), true,
                      t.at("d.weight"));
  });
}

// QK-norm: heads inside wider rows, normed in place of a copy, gradients written to wider rows too.
OpCase heads_case(std::string name, int64_t N, int64_t H, int64_t D) {
  OpCase c;
  c.op = "rms_norm";
  c.name = std::move(name);
  c.inputs = {{.name = "rows", .shape = {N, (H + 2) * D}},
              {.name = "weight", .shape = {D}, .wide_gradient = true}};
  c.outputs = {{.name = "y", .shape = {N, H, D}},
               {.name = "rstd", .shape = {N, H}, .differentiable = false, .wide = true}};
  auto heads = [=](const Tensor& rows) { return rows.slice(1, D, (H + 1) * D).split(1, H, D); };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    rms_norm_forward(ctx, heads(t.at("rows")), t.at("weight"), kEps, t.at("y"), t.at("rstd"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    rms_norm_backward(ctx, t.at("d.y"), heads(t.at("rows")), t.at("weight"), t.at("rstd"),
                      heads(t.at("d.rows")), false, t.at("d.weight"));
  };
  c.workspace_bytes = [=](const Context& ctx, DType) {
    return rms_norm_backward_workspace_bytes(ctx.facts, N * H, D);
  };
  return c;
}

std::vector<OpCase> small_cases() {
  return {norm_case("rms_norm_n6_c20", 6, 20), norm_case("rms_norm_n70_c9", 70, 9),
          residual_case("rms_norm_residual_n5_c37", 5, 37),
          heads_case("rms_norm_heads_n5_h3_d12", 5, 3, 12)};
}

std::vector<OpCase> large_cases() {
  return {norm_case("rms_norm_n1024_c256", 1024, 256),
          norm_case("rms_norm_n300_c1280", 300, 1280),
          norm_case("rms_norm_n256_c4096", 256, 4096),
          rebuild_case("rms_norm_rebuild_n1024_c200", 1024, 200),
          rebuild_case("rms_norm_rebuild_n300_c1280", 300, 1280),
          rebuild_case("rms_norm_rebuild_n64_c4100", 64, 4100),
          residual_case("rms_norm_residual_n512_c1280", 512, 1280),
          heads_case("rms_norm_heads_n256_h4_d64", 256, 4, 64),
          heads_case("rms_norm_heads_n256_h2_d128", 256, 2, 128)};
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  return {norm_case("rms_norm", s.N(), s.C)};
}

}  // namespace

OpCaseSet rms_norm_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
