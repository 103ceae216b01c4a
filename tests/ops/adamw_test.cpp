#include "ops/update/adamw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/error/error.h"
#include "core/random/random.h"
#include "probe/update_rows.h"
#include "rig.h"
#include "support/forced_isa.h"
#include "support/safetensors_file.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using test::view;

// adamw() as the update `at`, of rows on the stack.
void adamw_at(Context& ctx, const AdamWStep& settings, const UpdateAt& at,
              const AdamWTensors& tensors) {
  alignas(double) std::array<std::byte, kUpdateRowsBytes> memory;
  const Tensor rows = Tensor::contiguous(memory.data(), DType::U8, {kUpdateRowsBytes});
  adamw(ctx, adamw_step_at(ctx, rows, settings, at), {&tensors, 1});
}

constexpr int64_t n = 37;

struct State {
  test::SafetensorsFile golden{
      testing_support::source_path("tests/golden/ops/adamw_10_steps_n37.safetensors")};
  std::vector<float> master, grads, m = std::vector<float>(n), v = std::vector<float>(n);
  State() : master(golden.values<float>("param")), grads(golden.values<float>("grads")) {}

  // The golden's settings.
  void run(Context& ctx, int64_t step, const Tensor& weight, double grad_scale = 1.0) {
    const Tensor grad = view(grads, {10, n}).slice(0, step - 1, step).reshape({n});
    const AdamWTensors tensors{view(master, {n}), grad, view(m, {n}), view(v, {n}), weight, 0.1};
    adamw_at(ctx, {.lr = 1e-2}, {step, grad_scale}, tensors);
  }
};

TEST(AdamW, TenFloatStepsEndWithinFourUlpOfTorchs) {
  for (cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    test::Rig rig;
    State state;
    for (int64_t step = 1; step <= 10; ++step) state.run(rig.ctx, step, {});
    auto expect_close = [&](const std::vector<float>& got, const char* name) {
      const std::vector<float> want = state.golden.values<float>(name);
      for (size_t i = 0; i < got.size(); ++i) {
        // An ulp of the largest the element was on its way: cancellation may leave it smaller.
        const float size = std::max(std::abs(want[i]), std::string(name) == "f32.v" ? 0.0f : 0.1f);
        const float ulp = std::nextafter(size, 1e9f) - size;
        EXPECT_NEAR(got[i], want[i], 4 * ulp) << name << "[" << i << "] " << cpu::name_of(isa);
      }
    };
    expect_close(state.master, "f32.master");
    expect_close(state.m, "f32.m");
    expect_close(state.v, "f32.v");
  }
}

TEST(AdamW, ComputeCopyIsTheRoundedMaster) {
  test::Rig rig;
  State state;
  std::vector<Bf16> weight(n);
  state.run(rig.ctx, 1, view(weight, {n}));
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(weight[i].bits, Bf16::from_float(state.master[i]).bits);
}

TEST(AdamW, MasterAsItsOwnWeightIsUpdatedOnce) {
  test::Rig rig;
  State alone, same;
  alone.run(rig.ctx, 1, {});
  same.run(rig.ctx, 1, view(same.master, {n}));
  EXPECT_EQ(alone.master, same.master);
}

TEST(AdamW, GradScaleActsAsScaledGradients) {
  test::Rig rig;
  State scaled, plain;
  scaled.run(rig.ctx, 1, {}, 0.25);
  for (float& g : plain.grads) g *= 0.25f;
  plain.run(rig.ctx, 1, {});
  EXPECT_EQ(scaled.master, plain.master);
  EXPECT_EQ(scaled.v, plain.v);
}

constexpr uint64_t kSeed = 99;
constexpr uint32_t kTensor = 0xabcdef01;

// A parameter with moments in BF16 (Moment = Bf16) or F32, its gradients the same on every step.
template <class Moment>
struct Parameter {
  std::vector<float> master, grad;
  std::vector<Moment> m, v;

  explicit Parameter(size_t size) : master(size), grad(size), m(size), v(size) {
    const RandomStream stream(1, Purpose::Test);
    for (size_t i = 0; i < size; ++i) {
      master[i] = stream.normal(2 * i);
      grad[i] = stream.normal(2 * i + 1);
    }
  }

  // Elements [begin, end) as a shard of the whole.
  void update(Context& ctx, AdamWStep settings, const UpdateAt& at, int64_t begin, int64_t end) {
    const auto part = [&](auto& values) {
      return view(values, {static_cast<int64_t>(values.size())}).slice(0, begin, end);
    };
    settings.seed = kSeed;
    const AdamWTensors tensors{part(master), part(grad), part(m), part(v),
                               {},           0.1,        kTensor, static_cast<uint64_t>(begin)};
    adamw_at(ctx, settings, at, tensors);
  }
  void update(Context& ctx, const AdamWStep& settings, const UpdateAt& at) {
    update(ctx, settings, at, 0, static_cast<int64_t>(master.size()));
  }
};

std::vector<uint16_t> bits_of(const std::vector<Bf16>& values) {
  std::vector<uint16_t> bits;
  for (const Bf16 value : values) bits.push_back(value.bits);
  return bits;
}

std::vector<float> widened(const std::vector<Bf16>& values) {
  std::vector<float> floats;
  for (const Bf16 value : values) floats.push_back(value.to_float());
  return floats;
}

TEST(AdamW, Bf16MomentsAreTheFloatOnesRoundedByTheAddressedBits) {
  constexpr size_t size = 1003;
  for (cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    test::Rig rig;
    Parameter<Bf16> narrow(size);
    Parameter<float> wide(size);
    for (int64_t step = 1; step <= 3; ++step) {
      wide.m = widened(narrow.m);
      wide.v = widened(narrow.v);
      const UpdateAt at{step, 0.37};
      narrow.update(rig.ctx, {.lr = 1e-2}, at);
      wide.update(rig.ctx, {.lr = 1e-2}, at);
      EXPECT_EQ(narrow.master, wide.master) << "the update uses what is not yet rounded";
      const RandomStream stream(kSeed, Purpose::Rounding, kTensor, static_cast<uint64_t>(step));
      for (size_t i = 0; i < size; ++i) {
        const uint32_t random = stream.bits(i);
        const auto m = std::bit_cast<uint32_t>(wide.m[i]) + (random & 0xffffu);
        const auto v = std::bit_cast<uint32_t>(wide.v[i]) + (random >> 16);
        ASSERT_EQ(narrow.m[i].bits, m >> 16) << i << " " << cpu::name_of(isa);
        ASSERT_EQ(narrow.v[i].bits, v >> 16) << i << " " << cpu::name_of(isa);
      }
    }
  }
}

TEST(AdamW, Bf16MomentsDoNotDependOnShardsOrThreads) {
  constexpr int64_t size = 50021;
  const AdamWStep settings{.lr = 1e-2};
  const UpdateAt at{.step = 7};
  ThreadPool one(1), four(4);
  Context ctx;
  ctx.pool = &one;
  Parameter<Bf16> whole(size);
  whole.update(ctx, settings, at);
  ctx.pool = &four;
  for (const std::vector<int64_t>& cuts :
       {std::vector<int64_t>{0, size}, {0, 25011, size}, {0, 1, 2, 3, 16387, 40000, size}}) {
    Parameter<Bf16> sharded(size);
    for (size_t i = 0; i + 1 < cuts.size(); ++i)
      sharded.update(ctx, settings, at, cuts[i], cuts[i + 1]);
    EXPECT_EQ(bits_of(sharded.m), bits_of(whole.m));
    EXPECT_EQ(bits_of(sharded.v), bits_of(whole.v));
    EXPECT_EQ(sharded.master, whole.master);
  }
}

// The share of elements rounded up is the moment's place between its neighbours, m's and v's
// choices are independent of each other, and so are two steps'.
TEST(AdamW, StochasticRoundingIsUnbiasedAndIndependent) {
  constexpr size_t size = 200000;
  test::Rig rig;
  const auto ups = [&](int64_t step) {
    Parameter<Bf16> p(size);
    std::fill(p.grad.begin(), p.grad.end(), 1.007f);
    p.update(rig.ctx, {}, {.step = step});
    std::vector<std::pair<bool, bool>> rounded_up;
    const auto m = std::bit_cast<uint32_t>(static_cast<float>(1.0 - 0.9) * 1.007f);
    const auto v =
        std::bit_cast<uint32_t>(1.007f * static_cast<float>(1.0 - 0.95) * 1.007f);  // within 1 ulp
    for (size_t i = 0; i < size; ++i) {
      rounded_up.emplace_back(p.m[i].bits != m >> 16, p.v[i].bits != v >> 16);
      EXPECT_LE(p.m[i].bits - (m >> 16), 1u);
      EXPECT_LE(p.v[i].bits - (v >> 16), 1u);
    }
    const auto place = [](uint32_t bits) { return (bits & 0xffffu) / 65536.0; };
    return std::tuple(rounded_up, place(m), place(v));
  };
  const auto [first, m_place, v_place] = ups(1);
  const auto [second, m_again, v_again] = ups(2);
  ASSERT_GT(std::min({m_place, 1 - m_place, v_place, 1 - v_place}), 0.05);
  const auto expect_share = [&](const auto& holds, double wanted) {
    size_t count = 0;
    for (size_t i = 0; i < size; ++i) count += holds(i) ? 1 : 0;
    const double sigma = std::sqrt(wanted * (1 - wanted) / size);
    EXPECT_NEAR(static_cast<double>(count) / size, wanted, 4 * sigma);
  };
  expect_share([&](size_t i) { return first[i].first; }, m_place);
  expect_share([&](size_t i) { return first[i].second; }, v_place);
  expect_share([&](size_t i) { return first[i].first && first[i].second; }, m_place * v_place);
  expect_share([&](size_t i) { return first[i].first && second[i].first; }, m_place * m_place);
  expect_share([&](size_t i) { return first[i].first && first[(i + 1) % size].first; },
               m_place * m_place);
}

TEST(AdamW, Bf16MomentsGrowBySmallerStepsThanTheyCanHold) {
  // Towards 1 by a thousandth of what is missing: rounded to nearest, v would stop at 0.25.
  test::Rig rig;
  Parameter<Bf16> p(1000);
  std::fill(p.grad.begin(), p.grad.end(), 1.0f);
  for (int64_t step = 1; step <= 4000; ++step) p.update(rig.ctx, {.beta2 = 0.999}, {.step = step});
  double mean = 0.0;
  for (const Bf16 v : p.v) mean += v.to_float() / 1000.0;
  EXPECT_NEAR(mean, 1.0 - std::pow(0.999, 4000), 0.005);
}

TEST(AdamW, WhatIsNotFiniteStaysSoInBf16Moments) {
  test::Rig rig;
  Parameter<Bf16> p(64);
  for (size_t i = 0; i < 64; i += 2) {
    p.grad[i] = std::numeric_limits<float>::quiet_NaN();
    p.grad[i + 1] = std::numeric_limits<float>::infinity();
  }
  p.update(rig.ctx, {}, {.step = 1});
  for (size_t i = 0; i < 64; i += 2) {
    EXPECT_TRUE(std::isnan(p.m[i].to_float()) && std::isnan(p.v[i].to_float()));
    EXPECT_TRUE(std::isinf(p.m[i + 1].to_float()) && std::isinf(p.v[i + 1].to_float()));
  }
}

TEST(AdamW, ASkippedUpdateChangesNothing) {
  test::Rig rig;
  Parameter<Bf16> p(1003), before(1003);
  std::fill(p.grad.begin(), p.grad.end(), std::numeric_limits<float>::quiet_NaN());
  p.update(rig.ctx, {.lr = 1.0}, {.skipped = true});
  EXPECT_EQ(p.master, before.master);
  EXPECT_EQ(bits_of(p.m), bits_of(before.m));
  EXPECT_EQ(bits_of(p.v), bits_of(before.v));
}

TEST(AdamW, MomentsOfTwoTypesAreRefused) {
  test::Rig rig;
  Parameter<Bf16> narrow(8);
  Parameter<float> wide(8);
  const AdamWTensors mixed{
      view(wide.master, {8}), view(wide.grad, {8}), view(narrow.m, {8}), view(wide.v, {8}), {}};
  EXPECT_THROW(adamw_at(rig.ctx, {}, {}, mixed), Error);
}

}  // namespace
}  // namespace ingot
