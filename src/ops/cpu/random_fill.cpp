#include "ops/kernels/random_fill.h"

#include <algorithm>

#include "core/random/normal.h"
#include "ops/cpu/philox.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// Blocks of four values computed together: enough lanes for any vector width, all in L1.
constexpr int kBlocks = 64;

// Values 4·first … 4·(first + kBlocks) - 1. Plain loops over lanes; the compiler vectorises them.
void fill_blocks(const RandomStream& stream, uint64_t first, float scale, float* out) {
  uint32_t words[4][kBlocks];
  philox_blocks(stream, first, words);
  const auto& [c0, c1, c2, c3] = words;
  float n0[kBlocks], n1[kBlocks], n2[kBlocks], n3[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const NormalPair a = normal_pair(c0[i], c1[i]);
    const NormalPair b = normal_pair(c2[i], c3[i]);
    n0[i] = scale * a.first;
    n1[i] = scale * a.second;
    n2[i] = scale * b.first;
    n3[i] = scale * b.second;
  }
  for (int i = 0; i < kBlocks; ++i) {
    out[4 * i] = n0[i];
    out[4 * i + 1] = n1[i];
    out[4 * i + 2] = n2[i];
    out[4 * i + 3] = n3[i];
  }
}

}  // namespace

void fill_normal(const RandomStream& stream, uint64_t first_index, float scale, float* out,
                 int64_t n) {
  constexpr int64_t kValues = 4 * kBlocks;
  alignas(64) float values[kValues];
  for (int64_t done = 0; done < n;) {
    const uint64_t index = first_index + static_cast<uint64_t>(done);
    const auto skip = static_cast<int64_t>(index % 4);  // a shard may start inside a block
    fill_blocks(stream, index / 4, scale, values);
    const int64_t take = std::min(kValues - skip, n - done);
    std::copy(values + skip, values + skip + take, out + done);
    done += take;
  }
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
