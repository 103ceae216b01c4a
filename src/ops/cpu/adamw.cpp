#include "ops/kernels/adamw.h"

#include <algorithm>

#include "ops/cpu/kernel.h"
#include "ops/cpu/philox.h"
#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {
namespace {

// One of the two bf16 next to each lane, the farther one the rarer; `random` is below 2¹⁶. A NaN
// stays a NaN, as in to_bf16_bits().
INGOT_SIMD HalfBitsV to_random_bf16_bits(FloatV v, UintV random) {
  const UintV bits = bits_as<UintV>(v);
  const UintV chosen = (v == v ? bits + random : bits | 0x400000u) >> 16;
  return __builtin_convertvector(chosen, HalfBitsV);
}

template <class Count>
INGOT_SIMD void store_randomly(Bf16* p, FloatV v, UintV random, Count count) {
  const HalfBitsV half = to_random_bf16_bits(v, random);
  std::memcpy(&p->bits, &half, static_cast<size_t>(count) * sizeof(Bf16));
}

struct Halves {};  // as type of the compute copy: master is the low half beside a BF16 weight

// A: the type of the states. M: of the moments. W: of the compute copy, Halves, or void for none.
template <class A, class M, class W>
void update(Context& ctx, const AdamWStep& step, const AdamWTensors& tensors) {
  // The order of operations is that of torch.optim.AdamW, scalars rounded to A where torch does, so
  // that runs can be compared step for step.
  const int64_t count = *step.scalars.count.as<int64_t>();
  const auto at_count = [&](const Tensor& table) {
    return table.as<double>()[std::min(count, table.numel()) - 1];
  };
  const A keep = static_cast<A>(1.0 - step.lr * tensors.weight_decay);
  const A mix = static_cast<A>(1.0 - step.beta1);
  const A beta2 = static_cast<A>(step.beta2);
  const A square_mix = static_cast<A>(1.0 - step.beta2);
  const A root2 = static_cast<A>(at_count(step.roots2));
  const A eps = static_cast<A>(step.eps);
  const A negative_rate = static_cast<A>(-step.lr / at_count(step.corrections1));
  const A grad_scale = static_cast<A>(step.scalars.values.as<double>()[kGradScale]);
  constexpr bool kHalves = std::is_same_v<W, Halves>;
  using P = std::conditional_t<kHalves, uint16_t, A>;
  P* ps = tensors.master.as<P>();
  using Copy = std::conditional_t<kHalves, Bf16, W>;
  Copy* weight = nullptr;
  if constexpr (!std::is_void_v<Copy>) weight = tensors.weight.as<Copy>();
  const A* gs = tensors.grad.as<A>();
  M* ms = tensors.m.as<M>();
  M* vs = tensors.v.as<M>();
  constexpr bool kRounds = !std::is_same_v<M, A>;

  // Elements [begin, end); `words` are their random bits, read only where moments are rounded.
  const auto update_range = [&](int64_t begin, int64_t end,
                                [[maybe_unused]] const uint32_t* words) {
    for_each_vector<A>(end - begin, [&](int64_t offset, auto n) {
      const int64_t i = begin + offset;
      const auto g = load_n(gs + i, n) * grad_scale;
      const auto old_m = load_n(ms + i, n);
      const auto new_m = fma(broadcast<A>(mix), g - old_m, old_m);
      const auto new_v = fma(g * square_mix, g, load_n(vs + i, n) * beta2);
      const auto denominator = sqrt(new_v) / root2 + eps;
      VectorOf<A> old_p;
      if constexpr (kHalves) {
        old_p = load_halves(weight + i, ps + i, n);
      } else {
        old_p = load_n(ps + i, n);
      }
      const auto p = old_p * keep + new_m * negative_rate / denominator;
      if constexpr (kRounds) {
        UintV random;
        std::memcpy(&random, words + offset, sizeof random);
        store_randomly(ms + i, new_m, random & 0xffffu, n);
        store_randomly(vs + i, new_v, random >> 16, n);
      } else {
        store_n(ms + i, new_m, n);
        store_n(vs + i, new_v, n);
      }
      if constexpr (kHalves) {
        store_halves(weight + i, ps + i, p, n);
      } else {
        store_n(ps + i, p, n);
        if constexpr (!std::is_void_v<W>) store_n(weight + i, p, n);
      }
    });
  };

  for_chunks(ctx, tensors.master.numel(), kElementsPerTask, [&](int64_t begin, int64_t end) {
    if constexpr (kRounds) {
      constexpr int kBlocks = 64;  // of four words: enough lanes for any vector width, all in L1
      constexpr int64_t kWords = 4 * kBlocks;
      uint32_t blocks[4][kBlocks];
      uint32_t words[kWords + kLanes<float>] = {};  // the last vector reads beyond the last word
      const RandomStream stream(step.seed, Purpose::Rounding, tensors.tensor,
                                static_cast<uint64_t>(count));
      while (begin < end) {
        const uint64_t index = tensors.first_index + static_cast<uint64_t>(begin);
        const auto skip = static_cast<int64_t>(index % 4);  // a shard may start inside a block
        philox_blocks(stream, index / 4, blocks);
        for (int i = 0; i < kBlocks; ++i) {
          words[4 * i] = blocks[0][i];
          words[4 * i + 1] = blocks[1][i];
          words[4 * i + 2] = blocks[2][i];
          words[4 * i + 3] = blocks[3][i];
        }
        const int64_t piece_end = std::min(end, begin + kWords - skip);
        update_range(begin, piece_end, words + skip);
        begin = piece_end;
      }
    } else {
      update_range(begin, end, nullptr);
    }
  });
}

}  // namespace

void adamw(Context& ctx, const AdamWStep& step, const AdamWTensors& tensors) {
  if (step.scalars.values.as<double>()[kSkipped] != 0.0) return;
  const Tensor &master = tensors.master, &weight = tensors.weight;
  auto run = [&]<class W>(std::type_identity<W>) {
    if (master.dtype == DType::F64) {
      if constexpr (std::is_void_v<W> || std::is_same_v<W, double>)
        update<double, double, W>(ctx, step, tensors);
    } else if constexpr (!std::is_same_v<W, double>) {
      if (tensors.m.dtype == DType::BF16) {
        update<float, Bf16, W>(ctx, step, tensors);
      } else {
        update<float, float, W>(ctx, step, tensors);
      }
    }
  };
  if (master.dtype == DType::U16) return run(std::type_identity<Halves>{});
  if (!weight.defined() || weight.data == master.data) return run(std::type_identity<void>{});
  with_float_type(weight.dtype, [&](auto tag) { run(std::type_identity<decltype(tag)>{}); });
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
