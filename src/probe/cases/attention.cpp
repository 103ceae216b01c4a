#include <algorithm>

#include "ops/attention.h"
#include "ops/memory.h"
#include "probe/op_case.h"
#include "probe/rope_tables.h"

namespace ingot {
namespace {

struct AttentionShape {
  int64_t B, Tq, Tk, H, G, D;
};

int64_t workspace_bytes(const Context& ctx, const AttentionShape& s, DType dtype) {
  return attention_workspace_bytes(ctx.facts,
                                   {dtype, s.B, s.Tq, s.Tk, s.H, s.G, s.D, ctx.deterministic});
}

// Of a batch: where the documents begin, and what whoever has that in host memory counts.
struct Documents {
  std::vector<double> starts = {};  // (B, T); empty: no documents
  int64_t count = 0;
  int64_t longest = 0;  // tokens
  int64_t pairs = 0;    // of a query and a key it sees, in one head

  Documents() = default;
  Documents(std::vector<double> starts_in, int64_t T) : starts(std::move(starts_in)) {
    for (int64_t n = 0; n < std::ssize(starts); ++n) {
      const int64_t tokens = n % T + 1 - static_cast<int64_t>(starts[static_cast<size_t>(n)]);
      count += tokens == 1 ? 1 : 0;
      longest = std::max(longest, tokens);
      pairs += tokens;
    }
  }

  AttentionOptions add_to(AttentionOptions options, const OpTensors& tensors) const {
    if (starts.empty()) return options;
    options.document_start = tensors.at("document_start");
    options.num_documents = count;
    options.max_document_tokens = longest;
    return options;
  }
  void add_input(const AttentionShape& s, OpCase& c) const {
    if (!starts.empty())
      c.inputs.push_back(
          {.name = "document_start", .shape = {s.B, s.Tq}, .type = DType::I32, .values = starts});
  }
};

// With these lengths, a list for each row, over and over until it is full.
Documents documents_of(const std::vector<std::vector<int64_t>>& lengths, int64_t T) {
  std::vector<double> starts;
  for (const std::vector<int64_t>& row : lengths) {
    int64_t start = 0;
    for (size_t i = 0; start < T; ++i) {
      const int64_t length = std::min(row[i % row.size()], T - start);
      starts.insert(starts.end(), static_cast<size_t>(length), static_cast<double>(start));
      start += length;
    }
  }
  return {starts, T};
}

AttentionTensors tensors_of(const OpTensors& t) {
  return {t.at("q"), t.at("k"), t.at("v"), t.at("out"), t.at("lse")};
}
AttentionGradients gradients_of(const OpTensors& t) {
  return {t.at("d.out"), t.at("d.q"), t.at("d.k"), t.at("d.v")};
}

OpCase attention_case(std::string name, const AttentionShape& s, const AttentionOptions& options,
                      const Documents& documents = {}) {
  OpCase c;
  c.op = "attention";
  c.name = std::move(name);
  c.inputs = {{.name = "q", .shape = {s.B, s.Tq, s.H, s.D}},
              {.name = "k", .shape = {s.B, s.Tk, s.G, s.D}},
              {.name = "v", .shape = {s.B, s.Tk, s.G, s.D}}};
  documents.add_input(s, c);
  c.outputs = {{.name = "out", .shape = {s.B, s.Tq, s.H, s.D}},
               {.name = "lse", .shape = {s.B, s.H, s.Tq}, .differentiable = false, .wide = true}};
  c.forward = [=](Context& ctx, const OpTensors& t) {
    attention_forward(ctx, tensors_of(t), documents.add_to(options, t));
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    attention_backward(ctx, tensors_of(t), gradients_of(t), documents.add_to(options, t));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return workspace_bytes(ctx, s, dtype);
  };
  return c;
}

// Queries and keys are rotated before attention; the backward pass is one op.
OpCase attention_rope_case(std::string name, const AttentionShape& s, RopePairs pairs,
                           const std::vector<double>& positions = {}) {
  OpCase c = attention_case(std::move(name), s, {});
  c.op = "attention_rope";
  int64_t context = s.Tk;
  for (const double position : positions)
    context = std::max(context, static_cast<int64_t>(position) + 1);
  if (!positions.empty())
    c.inputs.push_back(
        {.name = "positions", .shape = {s.B, s.Tk}, .type = DType::I32, .values = positions});
  c.outputs.push_back(
      {.name = "q_turned", .shape = {s.B, s.Tq, s.H, s.D}, .differentiable = false});
  c.outputs.push_back(
      {.name = "k_turned", .shape = {s.B, s.Tk, s.G, s.D}, .differentiable = false});
  const auto tables = [=](Context& ctx, const OpTensors& t) {
    RopeInput rope = take_rope_tables(ctx, t.at("q").dtype, context, s.D);
    rope.pairs = pairs;
    if (!positions.empty()) rope.positions = t.at("positions");
    return rope;
  };
  const auto turned_of = [](const OpTensors& t) -> AttentionTensors {
    return {t.at("q_turned"), t.at("k_turned"), t.at("v"), t.at("out"), t.at("lse")};
  };
  c.forward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    const RopeInput rope = tables(ctx, t);
    for (const char* heads : {"q", "k"}) {
      const Tensor& turned = t.at(std::string(heads) + "_turned");
      copy(ctx, t.at(heads), turned);
      rope_forward(ctx, turned, rope);
    }
    attention_forward(ctx, turned_of(t), {});
  };
  c.backward = [=](Context& ctx, const OpTensors& t) {
    Workspace::Scope scope(ctx.workspace);
    attention_rope_backward(ctx, turned_of(t), gradients_of(t), {}, tables(ctx, t));
  };
  c.workspace_bytes = [=](const Context& ctx, DType dtype) {
    return workspace_bytes(ctx, s, dtype) + rope_tables_bytes(context, s.D);
  };
  return c;
}

std::vector<OpCase> small_cases() {
  const Documents documents({0, 0, 0, 3, 3, 5, 5, 5, 5,  //
                             0, 1, 1, 1, 1, 1, 1, 7, 8},
                            9);
  AttentionOptions full, window, scaled, capped;
  full.causal = false;
  window.window = 3;
  scaled.scale = 0.3;
  capped.softcap = 1.5;
  capped.window = 4;
  return {
      attention_case("attention_causal_b2_t7_h2_g2_d6", {2, 7, 7, 2, 2, 6}, {}),
      attention_case("attention_grouped_b1_t9_h4_g2_d5", {1, 9, 9, 4, 2, 5}, {}),
      attention_case("attention_full_b1_tq4_tk7_h2_g2_d3", {1, 4, 7, 2, 2, 3}, full),
      attention_case("attention_decode_b2_tq3_tk8_h2_g1_d4", {2, 3, 8, 2, 1, 4}, {}),
      attention_case("attention_window3_b1_t11_h2_g2_d4", {1, 11, 11, 2, 2, 4}, window),
      attention_case("attention_scaled_b1_t5_h1_g1_d17", {1, 5, 5, 1, 1, 17}, scaled),
      attention_case("attention_softcap_b1_t9_h2_g1_d6", {1, 9, 9, 2, 1, 6}, capped),
      attention_case("attention_documents_b2_t9_h2_g1_d4", {2, 9, 9, 2, 1, 4}, {}, documents),
      attention_rope_case("attention_rope_half_b2_t7_h4_g2_d6", {2, 7, 7, 4, 2, 6},
                          RopePairs::HalfSplit),
      attention_rope_case("attention_rope_positions_b2_t5_h2_g1_d10", {2, 5, 5, 2, 1, 10},
                          RopePairs::Interleaved, {0, 1, 2, 0, 1, 7, 39, 0, 1, 2}),
  };
}

std::vector<OpCase> large_cases() {
  AttentionOptions full, window, capped;
  full.causal = false;
  window.window = 64;
  capped.softcap = 2.0;
  // Gentler than those: where most scores reach the cap, 1 - tanh² has few digits left.
  AttentionOptions gentle, gentle_window;
  gentle.softcap = gentle_window.softcap = 6.0;
  gentle_window.window = 64;
  // F32 sums of heads so wide are tried on fewer tokens.
  OpCase wide_capped = attention_case("attention_softcap_window64_b4_t512_h2_g1_d256",
                                      {4, 512, 512, 2, 1, 256}, gentle_window);
  wide_capped.cuda_dtypes = {DType::BF16};
  using enum RopePairs;
  const auto positions = [](int64_t count) {
    std::vector<double> places;
    for (int64_t n = 0; n < count; ++n) places.push_back(static_cast<double>(n * 7 % 600));
    return places;
  };
  return {
      attention_case("attention_causal_b2_t256_h4_g4_d64", {2, 256, 256, 4, 4, 64}, {}),
      attention_case("attention_grouped_b1_t256_h4_g2_d128", {1, 256, 256, 4, 2, 128}, {}),
      attention_case("attention_grouped_b2_t200_h4_g2_d64", {2, 200, 200, 4, 2, 64}, {}),
      attention_case("attention_full_b1_tq128_tk256_h4_g4_d64", {1, 128, 256, 4, 4, 64}, full),
      attention_case("attention_decode_b4_tq1_tk256_h4_g2_d64", {4, 1, 256, 4, 2, 64}, {}),
      attention_case("attention_window64_b1_t256_h4_g4_d64", {1, 256, 256, 4, 4, 64}, window),
      attention_case("attention_documents_b2_t256_h4_g2_d64", {2, 256, 256, 4, 2, 64}, {},
                     documents_of({{50}, {96}}, 256)),
      attention_case("attention_softcap_b2_t256_h4_g2_d64", {2, 256, 256, 4, 2, 64}, capped),
      attention_case("attention_softcap_b1_t200_h2_g1_d256", {1, 200, 200, 2, 1, 256}, capped),
      // On a GPU all before are too small for cuDNN, and these are not.
      attention_case("attention_causal_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64}, {}),
      attention_case("attention_causal_b5_t384_h12_g12_d64", {5, 384, 384, 12, 12, 64}, {}),
      attention_case("attention_whole_rows_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64}, {},
                     documents_of({{512}, {512}, {512}, {512}}, 512)),
      attention_case("attention_documents_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64}, {},
                     documents_of({{512}, {1, 2, 300}, {50}, {129, 1, 64, 200}}, 512)),
      attention_case("attention_short_documents_b4_t512_h4_g4_d64", {4, 512, 512, 4, 4, 64}, {},
                     documents_of({{3}, {1, 4}, {7}, {5, 1, 60}}, 512)),
      attention_case("attention_window64_documents_b4_t512_h2_g1_d128", {4, 512, 512, 2, 1, 128},
                     window, documents_of({{200}, {65}, {512}, {1, 300}}, 512)),
      attention_case("attention_softcap_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64}, gentle),
      wide_capped,
      attention_case("attention_softcap_documents_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64},
                     gentle, documents_of({{512}, {1, 2, 300}, {50}, {129, 1, 64, 200}}, 512)),
      attention_rope_case("attention_rope_half_b4_t512_h4_g2_d64", {4, 512, 512, 4, 2, 64},
                          HalfSplit),
      attention_rope_case("attention_rope_interleaved_b4_t512_h4_g1_d64", {4, 512, 512, 4, 1, 64},
                          Interleaved),
      attention_rope_case("attention_rope_half_positions_b5_t384_h6_g6_d64",
                          {5, 384, 384, 6, 6, 64}, HalfSplit, positions(5 * 384)),
      attention_rope_case("attention_rope_interleaved_positions_b5_t384_h6_g3_d64",
                          {5, 384, 384, 6, 3, 64}, Interleaved, positions(5 * 384)),
      attention_rope_case("attention_rope_half_b2_t512_h2_g1_d128", {2, 512, 512, 2, 1, 128},
                          HalfSplit),
  };
}

std::vector<OpCase> bench_cases(const BenchShape& s) {
  const AttentionShape shape{s.B, s.T, s.T, s.H, s.H, s.D};
  const auto heads = [H = s.H, D = s.D](const Tensor& qkv, int64_t which) {
    return qkv.split(2, 3 * H, D).slice(2, which * H, (which + 1) * H);
  };
  const auto packed = [heads](const OpTensors& t) -> AttentionTensors {
    const Tensor& qkv = t.at("qkv");
    return {heads(qkv, 0), heads(qkv, 1), heads(qkv, 2), t.at("out"), t.at("lse")};
  };
  const auto packed_gradients = [heads](const OpTensors& t) -> AttentionGradients {
    const Tensor& dqkv = t.at("d.qkv");
    return {t.at("d.out"), heads(dqkv, 0), heads(dqkv, 1), heads(dqkv, 2)};
  };
  const auto bench = [&](std::string name, const Documents& documents) {
    OpCase c;
    c.op = "attention";
    c.name = std::move(name);
    // Heads are read from and written to packed QKV rows, as in the model.
    c.inputs = {{.name = "qkv", .shape = {s.B, s.T, 3 * s.H * s.D}}};
    documents.add_input(shape, c);
    c.outputs = {{.name = "out", .shape = {s.B, s.T, s.H, s.D}},
                 {.name = "lse", .shape = {s.B, s.H, s.T}, .differentiable = false, .wide = true}};
    c.forward = [=](Context& ctx, const OpTensors& t) {
      attention_forward(ctx, packed(t), documents.add_to({}, t));
    };
    c.backward = [=](Context& ctx, const OpTensors& t) {
      attention_backward(ctx, packed(t), packed_gradients(t), documents.add_to({}, t));
    };
    c.workspace_bytes = [=](const Context& ctx, DType dtype) {
      return workspace_bytes(ctx, shape, dtype);
    };
    // Two GEMMs forward and five backward, over the pairs that causality and documents leave.
    const int64_t pairs = documents.starts.empty() ? s.B * s.T * (s.T + 1) / 2 : documents.pairs;
    c.flops = 14.0 * static_cast<double>(s.H * s.D * pairs);
    // q, k, v, out; then q, k, v, out, dout, dq, dk, dv.
    c.elements = static_cast<double>(12 * s.N() * s.H * s.D);
    return c;
  };
  // The same, but the backward pass also rotates its gradients.
  OpCase turned = bench("attention_rope", {});
  turned.op = "attention_rope";
  for (const char* table : {"cos", "sin"})
    turned.inputs.push_back(
        {.name = table, .shape = {s.T, s.D / 2}, .differentiable = false, .wide = true});
  turned.backward = [=](Context& ctx, const OpTensors& t) {
    attention_rope_backward(ctx, packed(t), packed_gradients(t), {},
                            {.cos = t.at("cos"), .sin = t.at("sin")});
  };
  // Six documents a row, of half of it to a thirty-second.
  const std::vector<int64_t> row = {s.T / 2, s.T / 8, s.T / 32, s.T / 4, s.T / 16, s.T / 32};
  return {
      bench("attention_causal", {}),
      bench("attention_documents",
            documents_of(std::vector<std::vector<int64_t>>(static_cast<size_t>(s.B), row), s.T)),
      turned};
}

}  // namespace

OpCaseSet attention_cases() {
  return {.small = small_cases(), .large = large_cases(), .bench = bench_cases};
}

}  // namespace ingot
