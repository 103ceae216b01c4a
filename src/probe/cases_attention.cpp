#include "ops/attention.h"
#include "probe/cases.h"

namespace ingot {
namespace {

struct AttentionShape {
  int64_t B, Tq, Tk, H, G, D;
};

int64_t workspace_bytes(const Context& ctx, const AttentionShape& s, DType dtype) {
  return attention_workspace_bytes(ctx, dtype, s.B, s.Tq, s.Tk, s.H, s.G, s.D);
}

// documents: (B, T) starts, or empty.
OpCase attention_case(std::string name, const AttentionShape& s, const AttentionOptions& options,
                      const std::vector<double>& documents = {}) {
  OpCase c;
  c.op = "attention";
  c.name = std::move(name);
  c.inputs = {{.name = "q", .shape = {s.B, s.Tq, s.H, s.D}},
              {.name = "k", .shape = {s.B, s.Tk, s.G, s.D}},
              {.name = "v", .shape = {s.B, s.Tk, s.G, s.D}}};
  if (!documents.empty())
    c.inputs.push_back({.name = "document_start",
                        .shape = {s.B, s.Tq},
                        .differentiable = false,
                        .integer = true,
                        .values = documents});
  c.outputs = {{.name = "out", .shape = {s.B, s.Tq, s.H, s.D}},
               {.name = "lse", .shape = {s.B, s.H, s.Tq}, .differentiable = false, .wide = true}};
  const auto with_documents = [=](const OpTensors& t) {
    AttentionOptions full = options;
    if (!documents.empty()) full.document_start = t.at("document_start");
    return full;
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    attention_forward(ctx, t.at("q"), t.at("k"), t.at("v"), with_documents(t), t.at("out"),
                      t.at("lse"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    attention_backward(ctx, t.at("d.out"), t.at("q"), t.at("k"), t.at("v"), t.at("out"),
                       t.at("lse"), with_documents(t), t.at("d.q"), t.at("d.k"), t.at("d.v"));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return workspace_bytes(ctx, s, dtype);
  };
  return c;
}

}  // namespace

std::vector<OpCase> attention_cases() {
  const std::vector<double> documents = {0, 0, 0, 3, 3, 5, 5, 5, 5,  //
                                         0, 1, 1, 1, 1, 1, 1, 7, 8};
  AttentionOptions full, window, scaled;
  full.causal = false;
  window.window = 3;
  scaled.scale = 0.3;
  return {
      attention_case("attention_causal_b2_t7_h2_g2_d6", {2, 7, 7, 2, 2, 6}, {}),
      attention_case("attention_grouped_b1_t9_h4_g2_d5", {1, 9, 9, 4, 2, 5}, {}),
      attention_case("attention_full_b1_tq4_tk7_h2_g2_d3", {1, 4, 7, 2, 2, 3}, full),
      attention_case("attention_decode_b2_tq3_tk8_h2_g1_d4", {2, 3, 8, 2, 1, 4}, {}),
      attention_case("attention_window3_b1_t11_h2_g2_d4", {1, 11, 11, 2, 2, 4}, window),
      attention_case("attention_scaled_b1_t5_h1_g1_d17", {1, 5, 5, 1, 1, 17}, scaled),
      attention_case("attention_documents_b2_t9_h2_g1_d4", {2, 9, 9, 2, 1, 4}, {}, documents),
  };
}

std::vector<OpCase> attention_large_cases() {
  // Documents of 50 tokens, and in the second row of 96.
  std::vector<double> documents;
  for (int64_t length : {50, 96})
    for (int64_t t = 0; t < 256; ++t) documents.push_back(static_cast<double>(t / length * length));
  AttentionOptions full, window;
  full.causal = false;
  window.window = 64;
  return {
      attention_case("attention_causal_b2_t256_h4_g4_d64", {2, 256, 256, 4, 4, 64}, {}),
      attention_case("attention_grouped_b1_t256_h4_g2_d128", {1, 256, 256, 4, 2, 128}, {}),
      attention_case("attention_grouped_b2_t200_h4_g2_d64", {2, 200, 200, 4, 2, 64}, {}),
      attention_case("attention_full_b1_tq128_tk256_h4_g4_d64", {1, 128, 256, 4, 4, 64}, full),
      attention_case("attention_decode_b4_tq1_tk256_h4_g2_d64", {4, 1, 256, 4, 2, 64}, {}),
      attention_case("attention_window64_b1_t256_h4_g4_d64", {1, 256, 256, 4, 4, 64}, window),
      attention_case("attention_documents_b2_t256_h4_g2_d64", {2, 256, 256, 4, 2, 64}, {},
                     documents),
  };
}

std::vector<OpCase> attention_bench_cases(const BenchShape& s) {
  const AttentionShape shape{s.B, s.T, s.T, s.H, s.H, s.D};
  OpCase c;
  c.op = "attention";
  c.name = "attention_causal";
  // Heads are read from and written to packed QKV rows, as in the model.
  c.inputs = {{.name = "qkv", .shape = {s.B, s.T, 3 * s.H * s.D}}};
  c.outputs = {{.name = "out", .shape = {s.B, s.T, s.H, s.D}},
               {.name = "lse", .shape = {s.B, s.H, s.T}, .differentiable = false, .wide = true}};
  const auto heads = [H = s.H, D = s.D](const Tensor& qkv, int64_t which) {
    return qkv.split(2, 3 * H, D).slice(2, which * H, (which + 1) * H);
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    const Tensor& qkv = t.at("qkv");
    attention_forward(ctx, heads(qkv, 0), heads(qkv, 1), heads(qkv, 2), {}, t.at("out"),
                      t.at("lse"));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    const Tensor &qkv = t.at("qkv"), &dqkv = t.at("d.qkv");
    attention_backward(ctx, t.at("d.out"), heads(qkv, 0), heads(qkv, 1), heads(qkv, 2), t.at("out"),
                       t.at("lse"), {}, heads(dqkv, 0), heads(dqkv, 1), heads(dqkv, 2));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return workspace_bytes(ctx, shape, dtype);
  };
  // Two products forward and five backward, over the pairs causality leaves.
  c.flops = 14.0 * static_cast<double>(s.B * s.H * s.D * s.T * (s.T + 1) / 2);
  // q, k, v, out; then q, k, v, out, dout, dq, dk, dv.
  c.elements = static_cast<double>(12 * s.N() * s.H * s.D);
  return {c};
}

}  // namespace ingot
