#include "ops/halves.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "core/random/random.h"
#include "ops/update/adamw.h"
#include "probe/update_rows.h"
#include "rig.h"
#include "support/forced_isa.h"
#include "support/halves.h"

namespace ingot {
namespace {

using test::view;

// Every low half below several high ones: zero, denormals, ones, the largest, infinity, negatives.
std::vector<float> all_low_halves() {
  std::vector<float> values;
  for (const uint32_t high :
       {0x0000u, 0x0001u, 0x3f80u, 0x3f81u, 0x7f7eu, 0xbf80u, 0xbf81u, 0xff7eu})
    for (uint32_t low = 0; low < 0x10000u; ++low)
      values.push_back(std::bit_cast<float>(high << 16 | low));
  values.push_back(std::bit_cast<float>(0x7f800000u));
  values.push_back(std::bit_cast<float>(0xff800000u));
  return values;
}

TEST(Halves, AreTheNumberExactlyAndTheHighOneIsTheNearest) {
  for (const cpu::Isa isa : test::runnable_isas()) {
    const test::ForcedIsa forced(isa);
    test::Rig rig;
    std::vector<float> exact = all_low_halves(), again(exact.size());
    const auto n = static_cast<int64_t>(exact.size());
    std::vector<Bf16> high(exact.size());
    std::vector<uint16_t> low(exact.size());
    split_halves(rig.ctx, view(exact, {n}), view(high, {n}), view(low, {n}));
    join_halves(rig.ctx, view(high, {n}), view(low, {n}), view(again, {n}));
    for (size_t i = 0; i < exact.size(); ++i) {
      const auto bits = std::bit_cast<uint32_t>(exact[i]);
      ASSERT_EQ(std::bit_cast<uint32_t>(again[i]), bits) << std::hex << bits;
      ASSERT_EQ(high[i].bits, test::rounded_half(exact[i])) << std::hex << bits;
      if ((bits & 0xffffu) != 0x8000u) {
        ASSERT_EQ(high[i].bits, Bf16::from_float(exact[i]).bits) << std::hex << bits;
      }
    }
  }
}

TEST(Halves, AdamWUpdatesThemAsItDoesAnF32Master) {
  constexpr int64_t n = 1003;  // no multiple of a vector
  for (const DType moments : {DType::F32, DType::BF16}) {
    for (const cpu::Isa isa : test::runnable_isas()) {
      const test::ForcedIsa forced(isa);
      test::Rig rig;
      std::vector<float> master(n), grad(n), joined(n);
      std::vector<std::byte> m[2], v[2];
      for (auto* moment : {&m[0], &m[1], &v[0], &v[1]}) moment->resize(n * sizeof(float));
      std::vector<Bf16> weight(n), high(n);
      std::vector<uint16_t> low(n);
      const RandomStream stream(5, Purpose::Test, 1);
      for (size_t i = 0; i < n; ++i) master[i] = 0.02f * stream.normal(i);
      split_halves(rig.ctx, view(master, {n}), view(high, {n}), view(low, {n}));
      for (int64_t step = 1; step <= 4; ++step) {
        const RandomStream of_step(5, Purpose::Test, 1 + static_cast<uint32_t>(step));
        for (size_t i = 0; i < n; ++i) grad[i] = of_step.normal(i);
        const auto moment = [&](std::vector<std::byte>& bytes) {
          return Tensor::contiguous(bytes.data(), moments, {n});
        };
        const AdamWTensors wide{view(master, {n}), view(grad, {n}),   moment(m[0]),
                                moment(v[0]),      view(weight, {n}), /*weight_decay=*/0.1};
        const AdamWTensors halves{view(low, {n}), view(grad, {n}), moment(m[1]),
                                  moment(v[1]),   view(high, {n}), /*weight_decay=*/0.1};
        const Workspace::Scope scope(rig.ctx.workspace);
        const Tensor rows = rig.ctx.workspace.take(DType::U8, {kUpdateRowsBytes});
        const AdamWStep settings{.lr = 1e-2, .seed = 3};
        for (const AdamWTensors& tensors : {wide, halves})
          adamw(rig.ctx, adamw_step_at(rig.ctx, rows, settings, {.step = step}), {&tensors, 1});
      }
      join_halves(rig.ctx, view(high, {n}), view(low, {n}), view(joined, {n}));
      EXPECT_EQ(joined, master);
      EXPECT_EQ(m[0], m[1]);
      EXPECT_EQ(v[0], v[1]);
    }
  }
}

}  // namespace
}  // namespace ingot
