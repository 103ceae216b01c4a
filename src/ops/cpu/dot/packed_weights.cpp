// Packs weights into panels and looks rows up in them: see packed_tiles.h for the order.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/tensor/q8_0.h"
#include "ops/cpu/dot/packed_tiles.h"
#include "ops/kernels/packed_linear.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

constexpr int64_t kInfinity = 0x7c00;

// The first byte of a row in its panel; its words are kUnitBytes apart.
std::byte* row_of(const PackedWeight& w, int64_t row) {
  const int64_t panels = (w.rows + kPanelRows - 1) / kPanelRows;
  return static_cast<std::byte*>(w.bytes.data) + row / kPanelRows * (w.bytes.bytes() / panels);
}

void put_word(std::byte* unit, int64_t lane, uint32_t word) {
  std::memcpy(unit + lane * 4, &word, sizeof word);
}
uint32_t word_at(const std::byte* unit, int64_t lane) {
  uint32_t word = 0;
  std::memcpy(&word, unit + lane * 4, sizeof word);
  return word;
}

bool pack_blocks(const float* from, int64_t cols, std::byte* panel, int64_t lane) {
  for (int64_t k = 0; k < cols; k += kQ8Block, panel += kBlockBytes) {
    int8_t codes[kQ8Block];
    const F16 scale = F16::from_float(quantize_q8_0(from + k, codes));
    if (scale.bits >= kInfinity) return false;
    std::memcpy(panel + lane * 2, &scale.bits, sizeof scale.bits);
    for (int64_t u = 0; u < kBlockUnits; ++u) {
      uint32_t word = 0;
      std::memcpy(&word, codes + 4 * u, sizeof word);
      put_word(panel + kScaleBytes + u * kUnitBytes, lane, word ^ 0x80808080u);
    }
  }
  return true;
}

void unpack_blocks(const std::byte* panel, int64_t lane, int64_t cols, float* to) {
  for (int64_t k = 0; k < cols; k += kQ8Block, panel += kBlockBytes) {
    F16 scale;
    std::memcpy(&scale.bits, panel + lane * 2, sizeof scale.bits);
    const float factor = scale.to_float();
    for (int64_t u = 0; u < kBlockUnits; ++u) {
      const uint32_t word = word_at(panel + kScaleBytes + u * kUnitBytes, lane) ^ 0x80808080u;
      for (int64_t i = 0; i < 4; ++i)
        to[k + 4 * u + i] = factor * static_cast<float>(static_cast<int8_t>(word >> (8 * i)));
    }
  }
}

}  // namespace

bool pack_weights(Context& ctx, const Tensor& rows, int64_t first_row, const PackedWeight& w) {
  std::atomic<bool> fits{true};
  ctx.pool->run(rows.shape[0], [&](int64_t i, int) {
    const float* from = rows.as<float>() + i * rows.strides[0];
    std::byte* panel = row_of(w, first_row + i);
    const int64_t lane = (first_row + i) % kPanelRows;
    switch (w.format) {
      case WeightFormat::F32:
        for (int64_t k = 0; k < w.cols; ++k)
          put_word(panel + k * kUnitBytes, lane, bits_as<uint32_t>(from[k]));
        break;
      case WeightFormat::BF16:
        for (int64_t k = 0; k < w.cols; k += 2) {
          const uint32_t even = Bf16::from_float(from[k]).bits;
          const uint32_t odd = k + 1 < w.cols ? Bf16::from_float(from[k + 1]).bits : 0;
          put_word(panel + k / 2 * kUnitBytes, lane, odd << 16 | even);
        }
        break;
      case WeightFormat::Q8_0:
        if (!pack_blocks(from, w.cols, panel, lane)) fits = false;
        break;
    }
  });
  return fits;
}

void unpack_weights(Context& ctx, const PackedWeight& w, const int32_t* ids, const Tensor& y) {
  ctx.pool->run(y.shape[0], [&](int64_t i, int) {
    float* to = y.as<float>() + i * y.strides[0];
    const std::byte* panel = row_of(w, ids[i]);
    const int64_t lane = ids[i] % kPanelRows;
    switch (w.format) {
      case WeightFormat::F32:
        for (int64_t k = 0; k < w.cols; ++k)
          to[k] = bits_as<float>(word_at(panel + k * kUnitBytes, lane));
        break;
      case WeightFormat::BF16:
        for (int64_t k = 0; k < w.cols; ++k) {
          const uint32_t word = word_at(panel + k / 2 * kUnitBytes, lane);
          to[k] = bits_as<float>(k % 2 == 0 ? word << 16 : word & 0xffff0000u);
        }
        break;
      case WeightFormat::Q8_0:
        unpack_blocks(panel, lane, w.cols, to);
        break;
    }
  });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
