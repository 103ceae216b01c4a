// Tensors for 8-bit ops on either device, and how they are compared.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "ops/fp8.h"
#include "ops/memory.h"
#include "ops/rms_norm.h"
#include "ops/update/update_scalars.h"

namespace ingot::test {

enum class Orders { Rows, Transposed, Both };

// Owns tensors on a context's device, each with guard bytes behind it; fixed seeds.
class Fp8Rig {
 public:
  // `ctx` gets a workspace of exactly what ops on (num_rows, width) ask for.
  Fp8Rig(const Context& context, DType dtype, int64_t num_rows, int64_t width) : ctx(context) {
    const int64_t bytes = std::max({fp8_workspace_bytes(ctx.facts, dtype, num_rows, width),
                                    rms_norm_backward_workspace_bytes(ctx.facts, num_rows, width),
                                    matmul_workspace_bytes(ctx.facts)});
    ctx.workspace = Workspace(output(DType::U8, {bytes}));
  }

  // Holds a pattern that is not zero.
  Tensor output(DType dtype, const Shape& shape) {
    const int64_t bytes = shape.numel() * size_of(dtype);
    Block& block = blocks_.emplace_back(Block{Arena(ctx.device, bytes + kGuardBytes), bytes});
    const Tensor all = block.arena.place(0, DType::U8, {block.arena.bytes()});
    const std::vector<std::byte> pattern(static_cast<size_t>(all.bytes()), kPattern);
    copy_from_host(ctx, pattern.data(), all);
    return block.arena.place(0, dtype, shape);
  }

  // Of an update that was made, or not.
  UpdateScalars scalars(bool skipped = false) {
    const UpdateScalars scalars{output(DType::F64, {kNumUpdateValues}), output(DType::I64, {1})};
    UpdateValues values{};
    values[kSkipped] = skipped ? 1.0 : 0.0;
    copy_from_host(ctx, values.data(), scalars.values);
    return scalars;
  }

  // These values, over and over, rounded to F32 or BF16.
  Tensor tensor(DType dtype, const Shape& shape, const std::vector<float>& values) {
    const Tensor result = output(dtype, shape);
    std::vector<std::byte> host(static_cast<size_t>(result.bytes()));
    const size_t size = static_cast<size_t>(size_of(dtype));
    const size_t period = std::min(values.size() * size, host.size());
    for (size_t i = 0; i < period / size; ++i) {
      if (dtype == DType::BF16) {
        reinterpret_cast<Bf16*>(host.data())[i] = Bf16::from_float(values[i]);
      } else {
        reinterpret_cast<float*>(host.data())[i] = values[i];
      }
    }
    for (size_t done = period; done < host.size(); done += period)
      std::memcpy(host.data() + done, host.data(), std::min(period, host.size() - done));
    copy_from_host(ctx, host.data(), result);
    return result;
  }

  // Normal numbers over 17 powers of two, so that 8 bits saturate as well as vanish.
  Tensor random(DType dtype, const Shape& shape) { return tensor(dtype, shape, draw(8)); }
  // Normal numbers of standard deviation 1.
  Tensor normal(DType dtype, const Shape& shape) { return tensor(dtype, shape, draw(0)); }

  Tensor copy_of(const Tensor& tensor) {
    const Tensor result = output(tensor.dtype, tensor.shape);
    copy(ctx, tensor, result);
    return result;
  }

  Quantized quantized(DType dtype, int64_t N, int64_t C, Orders orders, float scale,
                      float amax = 0.0f) {
    Quantized q;
    if (orders != Orders::Transposed) q.rows = output(dtype, {N, C});
    if (orders != Orders::Rows) q.transposed = output(dtype, {C, N});
    q.scale = tensor(DType::F32, {1}, {scale});
    q.inverse = tensor(DType::F32, {1}, {1.0f / scale});
    q.amax = tensor(DType::F32, {1}, {amax});
    return q;
  }

  // The elements of a contiguous tensor.
  template <class T>
  std::vector<T> values(const Tensor& tensor) {
    std::vector<T> host(static_cast<size_t>(tensor.bytes()) / sizeof(T));
    copy_to_host(ctx, tensor, host.data());
    return host;
  }
  std::vector<uint8_t> bytes(const Tensor& tensor) { return values<uint8_t>(tensor); }
  float number(const Tensor& tensor) { return values<float>(tensor).at(0); }

  // Which bytes behind a tensor were written, by its size; empty when none was.
  std::string damage() {
    for (const Block& block : blocks_) {
      const Tensor guard = block.arena.place(block.bytes, DType::U8, {kGuardBytes});
      const std::vector<std::byte> now = values<std::byte>(guard);
      const auto changed = std::ranges::find_if(now, [](std::byte b) { return b != kPattern; });
      if (changed != now.end())
        return fmt::format("byte {} behind a tensor of {}", changed - now.begin(), block.bytes);
    }
    return {};
  }

  Context ctx;

 private:
  struct Block {
    Arena arena;
    int64_t bytes;
  };
  static constexpr int64_t kGuardBytes = 256;
  static constexpr std::byte kPattern{0xa5};

  // Repeated with a period that is prime, so that no two rows are equal.
  std::vector<float> draw(int powers) {
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> power(-powers, powers);
    std::vector<float> drawn(65521);
    for (float& value : drawn) value = std::ldexp(normal(rng_), power(rng_));
    return drawn;
  }

  std::mt19937 rng_{11};
  std::vector<Block> blocks_;
};

// Where two sequences of bytes differ first; empty when they are equal.
inline std::string difference(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want) {
  if (got.size() != want.size()) return fmt::format("{} bytes, not {}", got.size(), want.size());
  const auto [a, b] = std::ranges::mismatch(got, want);
  if (a == got.end()) return {};
  return fmt::format("byte {} is {:#04x}, not {:#04x}", a - got.begin(), *a, *b);
}

inline void expect_equal(Fp8Rig& rig, const Tensor& got, const Tensor& want, const char* name) {
  ASSERT_EQ(got.defined(), want.defined()) << name;
  if (got.defined()) {
    EXPECT_EQ(difference(rig.bytes(got), rig.bytes(want)), "") << name;
  }
}

// Of one number: the same bits, or NaN both.
inline void expect_equal_number(Fp8Rig& rig, const Tensor& got, const Tensor& want,
                                const char* name) {
  const float number = rig.number(got), expected = rig.number(want);
  EXPECT_TRUE(number == expected || (std::isnan(number) && std::isnan(expected)))
      << name << " is " << number << ", not " << expected;
}

inline void expect_equal(Fp8Rig& rig, const Quantized& got, const Quantized& want,
                         const char* name) {
  SCOPED_TRACE(name);
  expect_equal(rig, got.rows, want.rows, "rows");
  expect_equal(rig, got.transposed, want.transposed, "transposed");
  expect_equal_number(rig, got.amax, want.amax, "amax");
}

}  // namespace ingot::test
