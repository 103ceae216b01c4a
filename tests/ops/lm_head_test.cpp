#include "ops/lm_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/error/error.h"
#include "support/forced_isa.h"

namespace ingot {
namespace {

constexpr int64_t N = 11, C = 19, V = 53;
constexpr double kScale = 0.37;
constexpr double kOldGradient = 0.25;  // what dw holds before the call

struct Values {
  std::vector<double> h, w;  // (N, C), (V, C)
  std::vector<int32_t> targets;
};

Values random_values(DType dtype) {
  std::mt19937 rng(11);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int32_t> token(0, V - 1);
  const auto rounded = [&](float x) {
    return static_cast<double>(dtype == DType::BF16 ? Bf16::from_float(x).to_float() : x);
  };
  Values v{std::vector<double>(N * C), std::vector<double>(V * C), std::vector<int32_t>(N)};
  for (double& x : v.h) x = rounded(normal(rng));
  for (double& x : v.w) x = rounded(normal(rng));
  for (int32_t& t : v.targets) t = token(rng);
  return v;
}

struct Result {
  std::vector<double> losses, dh, dw;
};

// Written out without chunks or tricks.
Result naive(const Values& v, const LossOptions& o) {
  Result r{std::vector<double>(N), std::vector<double>(N * C),
           std::vector<double>(V * C, kOldGradient)};
  for (int64_t n = 0; n < N; ++n) {
    if (v.targets[n] == o.ignore_index) continue;
    std::vector<double> y(V), slope(V, 1.0);
    double sum = 0;
    for (int64_t j = 0; j < V; ++j) {
      for (int64_t c = 0; c < C; ++c) y[j] += v.h[n * C + c] * v.w[j * C + c];
      if (o.softcap > 0) {
        const double t = std::tanh(y[j] / o.softcap);
        y[j] = o.softcap * t;
        slope[j] = 1 - t * t;
      }
      sum += std::exp(y[j]);
    }
    const double lse = std::log(sum);
    r.losses[n] = lse - y[v.targets[n]] + o.z_loss * lse * lse;
    for (int64_t j = 0; j < V; ++j) {
      const double p = std::exp(y[j]) / sum;
      const double d =
          kScale * slope[j] * (p * (1 + 2 * o.z_loss * lse) - (j == v.targets[n] ? 1.0 : 0.0));
      for (int64_t c = 0; c < C; ++c) {
        r.dh[n * C + c] += d * v.w[j * C + c];
        r.dw[j * C + c] += d * v.h[n * C + c];
      }
    }
  }
  return r;
}

// A contiguous tensor of any float dtype, filled from and read back as doubles.
class Buffer {
 public:
  Buffer(const std::vector<double>& values, DType dtype, Shape shape)
      : bytes_(values.size() * static_cast<size_t>(size_of(dtype))),
        tensor_(Tensor::contiguous(bytes_.data(), dtype, shape)) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (dtype == DType::F64) {
        tensor_.as<double>()[i] = values[i];
      } else if (dtype == DType::F32) {
        tensor_.as<float>()[i] = static_cast<float>(values[i]);
      } else {
        tensor_.as<Bf16>()[i] = Bf16::from_float(static_cast<float>(values[i]));
      }
    }
  }
  const Tensor& tensor() const { return tensor_; }
  std::vector<double> values() const {
    std::vector<double> values(static_cast<size_t>(tensor_.numel()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = tensor_.dtype == DType::F64   ? tensor_.as<double>()[i]
                  : tensor_.dtype == DType::F32 ? static_cast<double>(tensor_.as<float>()[i])
                                                : tensor_.as<Bf16>()[i].to_float();
    }
    return values;
  }

 private:
  std::vector<std::byte> bytes_;
  Tensor tensor_;
};

enum class Pass { Forward, Backward };

Result run(Pass pass, const Values& v, const LossOptions& options, DType dtype, int threads = 2) {
  const DType acc = dtype == DType::F64 ? DType::F64 : DType::F32;
  std::vector<int32_t> targets = v.targets;
  const Buffer h(v.h, dtype, {N, C}), w(v.w, dtype, {V, C});
  const Buffer losses(std::vector<double>(N, 9.0), acc, {N});
  const Buffer dh(std::vector<double>(N * C, 9.0), dtype, {N, C});
  const Buffer dw(std::vector<double>(V * C, kOldGradient), acc, {V, C});
  const Tensor ids = Tensor::contiguous(targets.data(), DType::I32, {N});
  ThreadPool pool(threads);
  Context ctx;
  ctx.pool = &pool;
  const int64_t bytes = lm_head_workspace_bytes(ctx.facts, dtype, options.chunk, V);
  const Arena arena(Device::cpu(), bytes);
  ctx.workspace = Workspace(arena.place(0, DType::U8, {bytes}));
  if (pass == Pass::Forward) {
    lm_head_loss_forward(ctx, h.tensor(), w.tensor(), ids, options, losses.tensor());
  } else {
    double factor = kScale;
    const Tensor scale = Tensor::contiguous(&factor, DType::F64, {1});
    lm_head_loss_backward(ctx, h.tensor(), w.tensor(), ids, options, scale, losses.tensor(),
                          dh.tensor(), dw.tensor(), Accumulate::Yes);
  }
  return {losses.values(), dh.values(), dw.values()};
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                 const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << what << " at " << i;
  }
}

void expect_as_naive(const Values& v, const LossOptions& options, DType dtype) {
  const Result want = naive(v, options);
  const double acc = dtype == DType::F64 ? 1e-13 : 2e-5;
  expect_near(run(Pass::Forward, v, options, dtype).losses, want.losses, acc, "forward loss");
  const Result got = run(Pass::Backward, v, options, dtype);
  expect_near(got.losses, want.losses, acc, "loss");
  constexpr double kBf16 = 4e-3;
  const bool bf16 = dtype == DType::BF16;
  // BF16 instructions take the gradient of the logits rounded.
  const bool rounds = bf16 && cpu::active_dot_isa() == cpu::DotIsa::Avx512Bf16;
  expect_near(got.dh, want.dh, bf16 ? kBf16 : acc, "dh");
  expect_near(got.dw, want.dw, rounds ? kBf16 : acc, "dw");
}

class LmHead : public ::testing::Test {
 protected:
  ~LmHead() override { cpu::force_isa(cpu::best_isa()); }
};

TEST_F(LmHead, LossAndGradientsAgreeWithTheWrittenOutFormulaOnEveryIsa) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (DType dtype : {DType::F64, DType::F32, DType::BF16}) {
      Values v = random_values(dtype);
      v.targets[0] = v.targets[6] = -1;  // ignored
      // The last has chunks that do not divide N, the first one chunk larger than N.
      expect_as_naive(v, {}, dtype);
      expect_as_naive(v, {.z_loss = 0.05}, dtype);
      expect_as_naive(v, {.softcap = 3.0}, dtype);
      expect_as_naive(v, {.z_loss = 0.05, .softcap = 3.0, .chunk = 4}, dtype);
    }
  }
}

TEST_F(LmHead, IgnoredTokensAddNothing) {
  Values v = random_values(DType::F32);
  const int32_t ignore = 1000;  // outside the vocabulary, as frameworks like to have it
  for (int32_t& t : v.targets) t = ignore;
  const Result r = run(Pass::Backward, v, {.ignore_index = ignore, .chunk = 3}, DType::F32);
  EXPECT_EQ(r.losses, std::vector<double>(N, 0.0));
  EXPECT_EQ(r.dh, std::vector<double>(N * C, 0.0));
  EXPECT_EQ(r.dw, std::vector<double>(V * C, kOldGradient));
}

TEST_F(LmHead, LargeLogitsDoNotOverflow) {
  Values v = random_values(DType::F32);
  for (double& x : v.h) x *= 100;
  const Result r = run(Pass::Backward, v, {}, DType::F32);
  for (double loss : r.losses) {
    EXPECT_TRUE(std::isfinite(loss) && loss >= 0) << loss;
  }
  for (double d : r.dh) EXPECT_TRUE(std::isfinite(d));
}

TEST_F(LmHead, TheNumberOfThreadsDoesNotChangeABit) {
  const Values v = random_values(DType::F32);
  const LossOptions options{.z_loss = 0.01, .softcap = 20.0, .chunk = 4};
  const Result one = run(Pass::Backward, v, options, DType::F32, 1);
  for (int threads : {2, 3}) {
    const Result more = run(Pass::Backward, v, options, DType::F32, threads);
    EXPECT_EQ(one.losses, more.losses);
    EXPECT_EQ(one.dh, more.dh);
    EXPECT_EQ(one.dw, more.dw);
  }
}

TEST_F(LmHead, ATargetOutsideTheVocabularyIsADataError) {
  for (int32_t wrong : {static_cast<int32_t>(V), -2}) {
    Values v = random_values(DType::F32);
    v.targets[5] = wrong;
    for (Pass pass : {Pass::Forward, Pass::Backward}) {
      try {
        run(pass, v, {}, DType::F32);
        FAIL() << "target " << wrong << " was accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Data) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace ingot
