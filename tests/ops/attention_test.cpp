#include "ops/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/error/error.h"
#include "probe/op_run.h"
#include "rig.h"
#include "support/forced_isa.h"
#include "support/tolerance.h"

namespace ingot {
namespace {

struct Problem {
  int64_t B = 1, Tq = 1, Tk = 1, H = 1, G = 1, D = 1;
  bool causal = true;
  int64_t window = 0;
  std::vector<int32_t> documents = {};  // (B, T) or empty
  int64_t num_documents = 0, max_document_tokens = 0;
  double scale = 0.0;
  double input_scale = 1.0;  // standard deviation of q and k
  DType dtype = DType::F32;

  std::string str() const {
    return fmt::format("B {} Tq {} Tk {} H {} G {} D {} causal {} window {} documents {} {}", B, Tq,
                       Tk, H, G, D, causal, window, !documents.empty(), name_of(dtype));
  }
};

// A (B, T, heads, D) tensor in rows of a wider buffer, as heads in packed QKV rows are; `intact()`
// says that nothing between the rows, before or behind was written.
class Heads {
 public:
  Heads(int64_t B, int64_t T, int64_t heads, int64_t D, DType dtype)
      : row_(heads * D + kPad),
        bytes_(static_cast<size_t>((B * T + 2) * row_ * size_of(dtype)), kGuard),
        tensor_(Tensor::contiguous(bytes_.data(), dtype, {B * T + 2, row_})
                    .slice(0, 1, B * T + 1)
                    .slice(1, 0, heads * D)
                    .split(1, heads, D)
                    .split(0, B, T)) {}
  Heads(const Heads&) = delete;
  Heads& operator=(const Heads&) = delete;

  const Tensor& tensor() const { return tensor_; }
  void fill(std::mt19937& rng, double scale) {
    std::normal_distribution<double> normal(0.0, scale);
    for_each_row([&](const Tensor& row) {
      std::vector<double> values(static_cast<size_t>(row.numel()));
      std::ranges::generate(values, [&] { return normal(rng); });
      write_values(row, values);
    });
  }
  std::vector<double> values() const {
    std::vector<double> values;
    for_each_row([&](const Tensor& row) {
      std::ranges::copy(read_values(row), std::back_inserter(values));
    });
    return values;
  }
  bool intact() const {
    std::vector<std::byte> rest = bytes_;
    for_each_row([&](const Tensor& row) {
      const auto begin = static_cast<std::byte*>(row.data) - bytes_.data();
      std::fill_n(rest.begin() + begin, row.bytes(), kGuard);
    });
    return std::ranges::all_of(rest, [](std::byte b) { return b == kGuard; });
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static constexpr int64_t kPad = 3;
  static constexpr std::byte kGuard{0xA5};

  // f(the heads · D elements of each token).
  template <class F>
  void for_each_row(F f) const {
    const int64_t width = tensor_.shape[2] * tensor_.shape[3];
    for (int64_t b = 0; b < tensor_.shape[0]; ++b)
      for (int64_t t = 0; t < tensor_.shape[1]; ++t) {
        const Tensor token = tensor_.slice(0, b, b + 1).slice(1, t, t + 1);
        f(Tensor::contiguous(token.data, token.dtype, {width}));
      }
  }

  int64_t row_;
  std::vector<std::byte> bytes_;
  Tensor tensor_;
};

struct Tensors {
  Heads q, k, v, out, dout, dq, dk, dv;
  std::vector<double> lse_memory;  // room for either type
  Tensor lse;

  explicit Tensors(const Problem& p)
      : q(p.B, p.Tq, p.H, p.D, p.dtype),
        k(p.B, p.Tk, p.G, p.D, p.dtype),
        v(p.B, p.Tk, p.G, p.D, p.dtype),
        out(p.B, p.Tq, p.H, p.D, p.dtype),
        dout(p.B, p.Tq, p.H, p.D, p.dtype),
        dq(p.B, p.Tq, p.H, p.D, p.dtype),
        dk(p.B, p.Tk, p.G, p.D, p.dtype),
        dv(p.B, p.Tk, p.G, p.D, p.dtype),
        lse_memory(static_cast<size_t>(p.B * p.H * p.Tq)),
        lse(Tensor::contiguous(lse_memory.data(), p.dtype == DType::F64 ? DType::F64 : DType::F32,
                               {p.B, p.H, p.Tq})) {
    std::mt19937 rng(1);
    q.fill(rng, p.input_scale);
    k.fill(rng, p.input_scale);
    v.fill(rng, 1.0);
    dout.fill(rng, 1.0);
  }
};

AttentionOptions options_of(const Problem& p) {
  AttentionOptions options;
  options.scale = p.scale;
  options.causal = p.causal;
  options.window = p.window;
  if (!p.documents.empty())
    options.document_start =
        Tensor::contiguous(const_cast<int32_t*>(p.documents.data()), DType::I32, {p.B, p.Tq});
  options.num_documents = p.num_documents;
  options.max_document_tokens = p.max_document_tokens;
  return options;
}

// Runs both passes with exactly the workspace the op asks for; gradients are turned back if there
// is a rope.
void run(const Problem& p, Tensors& t, int num_threads = 2, const RopeInput* rope = nullptr) {
  ThreadPool pool(num_threads);
  Context ctx;
  ctx.pool = &pool;
  const int64_t bytes = attention_workspace_bytes(
      ctx.facts, {p.dtype, p.B, p.Tq, p.Tk, p.H, p.G, p.D, ctx.deterministic});
  const Arena arena(Device::cpu(), bytes);
  const Tensor memory = arena.place(0, DType::U8, {bytes});
  std::memset(memory.data, 0xFF, static_cast<size_t>(bytes));  // NaNs
  ctx.workspace = Workspace(memory);
  const AttentionOptions options = options_of(p);
  const AttentionTensors tensors{t.q.tensor(), t.k.tensor(), t.v.tensor(), t.out.tensor(), t.lse};
  const AttentionGradients gradients{t.dout.tensor(), t.dq.tensor(), t.dk.tensor(), t.dv.tensor()};
  attention_forward(ctx, tensors, options);
  if (rope != nullptr)
    attention_rope_backward(ctx, tensors, gradients, options, *rope);
  else
    attention_backward(ctx, tensors, gradients, options);
}

struct Reference {
  std::vector<double> out, lse, dq, dk, dv;
};

// The definition, in double, one query at a time. Backward starts from the output as it was stored:
// rounded to BF16 it moves dk by more than dk's own rounding.
Reference reference(const Problem& p, const Tensors& t) {
  const std::vector<double> q = t.q.values(), k = t.k.values(), v = t.v.values(),
                            out = t.out.values(), dout = t.dout.values();
  Reference r{std::vector<double>(q.size()),
              {},
              std::vector<double>(q.size()),
              std::vector<double>(k.size()),
              std::vector<double>(k.size())};
  const double scale = p.scale != 0.0 ? p.scale : 1.0 / std::sqrt(static_cast<double>(p.D));
  for (int64_t b = 0; b < p.B; ++b)
    for (int64_t h = 0; h < p.H; ++h)
      for (int64_t tq = 0; tq < p.Tq; ++tq) {
        const int64_t position = p.causal ? p.Tk - p.Tq + tq : p.Tk - 1;
        int64_t first = p.window > 0 ? std::max<int64_t>(0, position + 1 - p.window) : 0;
        if (!p.documents.empty())
          first = std::max<int64_t>(first, p.documents[static_cast<size_t>(b * p.Tq + tq)]);
        const int64_t qi = ((b * p.Tq + tq) * p.H + h) * p.D;
        const auto ki = [&](int64_t tk) { return ((b * p.Tk + tk) * p.G + h * p.G / p.H) * p.D; };
        const auto dot = [&](const std::vector<double>& x, int64_t i, const std::vector<double>& y,
                             int64_t j) {
          double sum = 0.0;
          for (int64_t d = 0; d < p.D; ++d)
            sum += x[static_cast<size_t>(i + d)] * y[static_cast<size_t>(j + d)];
          return sum;
        };
        const auto add = [&](std::vector<double>& x, int64_t i, double a,
                             const std::vector<double>& y, int64_t j) {
          for (int64_t d = 0; d < p.D; ++d)
            x[static_cast<size_t>(i + d)] += a * y[static_cast<size_t>(j + d)];
        };
        double max = -std::numeric_limits<double>::infinity(), sum = 0.0;
        for (int64_t tk = first; tk <= position; ++tk)
          max = std::max(max, scale * dot(q, qi, k, ki(tk)));
        for (int64_t tk = first; tk <= position; ++tk)
          sum += std::exp(scale * dot(q, qi, k, ki(tk)) - max);
        const double lse = max + std::log(sum);
        r.lse.push_back(lse);
        const auto weight = [&](int64_t tk) {
          return std::exp(scale * dot(q, qi, k, ki(tk)) - lse);
        };
        for (int64_t tk = first; tk <= position; ++tk) add(r.out, qi, weight(tk), v, ki(tk));
        const double delta = dot(dout, qi, out, qi);
        for (int64_t tk = first; tk <= position; ++tk) {
          const double dscore = scale * weight(tk) * (dot(dout, qi, v, ki(tk)) - delta);
          add(r.dv, ki(tk), weight(tk), dout, qi);
          add(r.dk, ki(tk), dscore, q, qi);
          add(r.dq, qi, dscore, k, ki(tk));
        }
      }
  return r;
}

void expect_equals_reference(const Problem& p) {
  SCOPED_TRACE(p.str());
  Tensors t(p);
  run(p, t);
  const Reference r = reference(p, t);
  // BF16 instructions take the softmax and its gradient rounded, as cuDNN does.
  const bool rounds = p.dtype == DType::BF16 && cpu::active_dot_isa() == cpu::DotIsa::Avx512Bf16;
  const double tolerance = tolerance_of(p.dtype) * (rounds ? 2 : 1);
  EXPECT_LE(relative_error(t.out.values(), r.out), tolerance) << "out";
  EXPECT_LE(relative_error(read_values(t.lse), r.lse), tolerance) << "lse";
  EXPECT_LE(relative_error(t.dq.values(), r.dq), tolerance) << "dq";
  EXPECT_LE(relative_error(t.dk.values(), r.dk), tolerance) << "dk";
  EXPECT_LE(relative_error(t.dv.values(), r.dv), tolerance) << "dv";
  for (const Heads* heads : {&t.q, &t.k, &t.v, &t.out, &t.dout, &t.dq, &t.dk, &t.dv})
    EXPECT_TRUE(heads->intact());
}

// Documents of random lengths; each token's entry is where its own began.
std::vector<int32_t> random_documents(std::mt19937& rng, int64_t B, int64_t T) {
  std::vector<int32_t> starts;
  for (int64_t b = 0; b < B; ++b) {
    int32_t start = 0;
    for (int32_t t = 0; t < T; ++t) {
      if (rng() % 40 == 0) start = t;
      starts.push_back(start);
    }
  }
  return starts;
}

class Attention : public ::testing::TestWithParam<cpu::DotIsa> {
 protected:
  void SetUp() override { cpu::force_dot_isa(GetParam()); }
  void TearDown() override { cpu::force_isa(cpu::best_isa()); }
};

TEST_P(Attention, EqualsItsDefinitionOnRandomShapesAndMasks) {
  std::mt19937 rng(7);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 40; ++i) {
    Problem p;
    p.dtype = i % 4 == 0 ? DType::BF16 : i % 4 == 1 ? DType::F64 : DType::F32;
    p.B = between(1, 2);
    p.G = between(1, 2);
    p.H = p.G * between(1, 3);
    p.Tk = i % 3 == 0 ? between(1, 20) : between(40, 230);
    p.Tq = i % 5 == 0 ? between(1, p.Tk) : p.Tk;
    p.D = i % 3 == 1 ? std::vector<int64_t>{32, 64, 128}[static_cast<size_t>(between(0, 2))]
                     : between(1, 70);
    p.causal = i % 7 != 0;
    if (p.causal && i % 4 == 2) p.window = between(1, 100);
    if (p.causal && p.Tq == p.Tk && i % 4 == 3) p.documents = random_documents(rng, p.B, p.Tk);
    expect_equals_reference(p);
  }
}

// Rows of T tokens, each cut into documents of these lengths over and over.
std::vector<int32_t> documents_of(const std::vector<std::vector<int32_t>>& lengths, int32_t T) {
  std::vector<int32_t> starts;
  for (const std::vector<int32_t>& row : lengths)
    for (int32_t start = 0, i = 0; start < T; ++i) {
      const int32_t length = row[static_cast<size_t>(i) % row.size()];
      for (int32_t t = start; t < std::min(T, start + length); ++t) starts.push_back(start);
      start += length;
    }
  return starts;
}

TEST_P(Attention, DocumentsOfOneTokenOfSomeAndOfAWholeRowEqualTheirDefinition) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16})
    for (int64_t window : {0, 30}) {
      Problem p{.B = 4, .Tq = 150, .Tk = 150, .H = 4, .G = 2, .D = 24, .window = window};
      p.documents = documents_of({{1}, {150}, {1, 2, 60}, {7}}, 150);
      p.dtype = dtype;
      expect_equals_reference(p);
    }
}

TEST_P(Attention, ADocumentThatFillsItsRowChangesNoBit) {
  Problem p{.B = 2, .Tq = 130, .Tk = 130, .H = 2, .D = 32, .dtype = DType::BF16};
  Tensors plain(p), masked(p);
  run(p, plain);
  p.documents = documents_of({{130}, {130}}, 130);
  run(p, masked);
  EXPECT_EQ(masked.out.bytes(), plain.out.bytes());
  EXPECT_EQ(read_values(masked.lse), read_values(plain.lse));
  EXPECT_EQ(masked.dq.bytes(), plain.dq.bytes());
  EXPECT_EQ(masked.dk.bytes(), plain.dk.bytes());
  EXPECT_EQ(masked.dv.bytes(), plain.dv.bytes());
}

TEST_P(Attention, LongRowsOfOneHeadAreSplitAndStillExact) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    expect_equals_reference({.Tq = 700, .Tk = 700, .D = 8, .dtype = dtype});
    expect_equals_reference({.Tq = 100, .Tk = 650, .H = 2, .D = 8, .window = 500, .dtype = dtype});
    expect_equals_reference({.Tq = 650, .Tk = 100, .D = 8, .causal = false, .dtype = dtype});
  }
}

TEST_P(Attention, ScoresOfTenThousandGiveNoNan) {
  // Scale 1 and values around ±50 over 4 dims: scores reach ±1e4, and one key takes all the weight.
  for (double scale : {1.0, -1.0}) {
    Problem p{.Tq = 130, .Tk = 130, .H = 2, .G = 1, .D = 4, .scale = scale, .input_scale = 50.0};
    p.dtype = DType::F64;
    expect_equals_reference(p);
    p.dtype = DType::F32;
    Tensors t(p);
    run(p, t);
    const auto all_finite = [](const std::vector<double>& values) {
      return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
    };
    EXPECT_GT(std::ranges::max(read_values(t.lse)), 1e4);
    for (const Heads* heads : {&t.out, &t.dq, &t.dk, &t.dv})
      EXPECT_TRUE(all_finite(heads->values()));
    EXPECT_LE(relative_error(t.out.values(), reference(p, t).out), 2e-2);
  }
}

TEST_P(Attention, NanInAQueryReachesItsOutput) {
  Problem p{.Tq = 20, .Tk = 20, .D = 8};
  Tensors t(p);
  t.q.tensor().as<float>()[3 * t.q.tensor().strides[1]] = std::numeric_limits<float>::quiet_NaN();
  run(p, t);
  const std::vector<double> out = t.out.values();
  EXPECT_TRUE(std::isnan(out[3 * 8]));
  EXPECT_FALSE(std::isnan(out[4 * 8]));
}

TEST_P(Attention, ThreadCountDoesNotChangeABit) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Problem p{.B = 2, .Tq = 400, .Tk = 400, .H = 4, .G = 2, .D = 32, .dtype = dtype};
    Tensors alone(p);
    run(p, alone, 1);
    for (int num_threads : {2, 3, 5}) {
      Tensors t(p);
      run(p, t, num_threads);
      EXPECT_EQ(t.out.bytes(), alone.out.bytes());
      EXPECT_EQ(read_values(t.lse), read_values(alone.lse));
      EXPECT_EQ(t.dq.bytes(), alone.dq.bytes());
      EXPECT_EQ(t.dk.bytes(), alone.dk.bytes());
      EXPECT_EQ(t.dv.bytes(), alone.dv.bytes());
    }
  }
}

// Tables for positions below 10 of heads of 4, and a batch's of 2 rows of 5 tokens.
struct Rotation {
  test::Rig rig;
  std::vector<float> cos = std::vector<float>(20), sin = cos;
  std::vector<int32_t> positions = {0, 1, 2, 0, 1, 9, 3, 0, 1, 2};

  Rotation() { rope_table(rig.ctx, {}, test::view(cos, {10, 2}), test::view(sin, {10, 2})); }
  RopeInput input(RopePairs pairs, bool listed) {
    RopeInput rope{
        .cos = test::view(cos, {10, 2}), .sin = test::view(sin, {10, 2}), .pairs = pairs};
    if (listed)
      rope.positions = test::view(positions, {2, 5});
    else
      rope.first_position = 3;
    return rope;
  }
};

TEST_P(Attention, TurningGradientsBackIsTheRotationOfTheGradients) {
  Rotation rotation;
  for (DType dtype : {DType::F32, DType::BF16})
    for (RopePairs pairs : {RopePairs::HalfSplit, RopePairs::Interleaved})
      for (bool listed : {false, true}) {
        const Problem p{.B = 2, .Tq = 5, .Tk = 5, .H = 4, .G = 2, .D = 4, .dtype = dtype};
        const RopeInput rope = rotation.input(pairs, listed);
        Tensors apart(p), fused(p);
        run(p, apart);
        for (const Heads* heads : {&apart.dq, &apart.dk})
          rope_backward(rotation.rig.ctx, heads->tensor(), rope);
        run(p, fused, 2, &rope);
        EXPECT_EQ(fused.dq.bytes(), apart.dq.bytes());
        EXPECT_EQ(fused.dk.bytes(), apart.dk.bytes());
        EXPECT_EQ(fused.dv.bytes(), apart.dv.bytes());
      }
}

INSTANTIATE_TEST_SUITE_P(Isa, Attention, ::testing::ValuesIn(test::runnable_dot_isas()),
                         [](const auto& test) { return std::string(cpu::name_of(test.param)); });

// What the checks say to a problem; empty: nothing.
std::string refusal(Problem p, const RopeInput* rope = nullptr) {
  Tensors t(p);
  try {
    run(p, t, 2, rope);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AttentionChecks, RefuseWhatTheMaskCannotMean) {
  EXPECT_EQ(refusal({.Tq = 4, .Tk = 4}), "");
  EXPECT_NE(refusal({.Tq = 4, .Tk = 3}).find("at most as many queries as keys"), std::string::npos);
  EXPECT_NE(refusal({.Tq = 4, .Tk = 4, .causal = false, .window = 2}).find("window"),
            std::string::npos);
  EXPECT_NE(refusal({.Tq = 4, .Tk = 4, .H = 3, .G = 2}).find("must divide"), std::string::npos);
  EXPECT_NE(refusal({.Tq = 3, .Tk = 3, .documents = {0, 2, 0}}).find("expected 0 to 1, got 2"),
            std::string::npos);
  EXPECT_NE(refusal({.Tq = 2, .Tk = 3, .documents = {0, 0}}).find("Tq == Tk"), std::string::npos);
  Problem counted{.Tq = 4, .Tk = 4, .documents = {0, 0, 0, 3}};
  counted.num_documents = 2;
  counted.max_document_tokens = 3;
  EXPECT_EQ(refusal(counted), "");
  counted.max_document_tokens = 2;
  EXPECT_NE(refusal(counted).find("2 documents of up to 3 tokens"), std::string::npos);
  counted.max_document_tokens = 0;
  counted.num_documents = 3;
  EXPECT_NE(refusal(counted).find("the options say 3"), std::string::npos);
}

TEST(AttentionChecks, RefuseARotationThatDoesNotFitTheHeads) {
  Rotation rotation;
  const RopeInput rope = rotation.input(RopePairs::HalfSplit, false);  // from position 3 on
  EXPECT_EQ(refusal({.Tq = 7, .Tk = 7, .D = 4}, &rope), "");
  EXPECT_NE(refusal({.Tq = 8, .Tk = 8, .D = 4}, &rope).find("beyond the rotary table's context"),
            std::string::npos);
  EXPECT_NE(refusal({.Tq = 4, .Tk = 4, .D = 6}, &rope).find("table must be"), std::string::npos);
  EXPECT_NE(refusal({.Tq = 2, .Tk = 4, .D = 4}, &rope).find("as many queries as keys, got 2 and 4"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
