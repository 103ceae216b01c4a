// Our product kernel against oneDNN's sgemm, on the shapes of a training step, one thread each.
//
// gemm_bench [generic|avx2|avx512]: prints GFLOP/s of both, oneDNN held to the same instruction
// set, and fails where they disagree. Runs alternate and are timed in CPU time of the thread, so
// that other load disturbs little; on a busy machine: nice -n -10 taskset -c 1 gemm_bench.
#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "core/device/arena.h"
#include "ops/cpu/gemm.h"

namespace {

using ingot::DType;
using ingot::Gemm;
using ingot::GemmOperand;
using namespace ingot::cpu;

struct Linear {
  const char* name;
  int64_t N, R, C;  // y(N, R) = x(N, C) · w(R, C)ᵀ
};

constexpr Linear kShapes[] = {
    {"llama_10m qkv", 4096, 768, 256},    {"llama_10m out", 4096, 256, 256},
    {"llama_10m up", 4096, 1536, 256},    {"llama_10m down", 4096, 256, 768},
    {"llama_10m head", 512, 8192, 256},   {"debug_120m qkv", 1024, 2304, 768},
    {"debug_120m out", 1024, 768, 768},   {"debug_120m up", 1024, 4096, 768},
    {"debug_120m down", 1024, 768, 2048}, {"debug_120m head", 512, 8192, 768},
    {"shakespeare qkv", 768, 384, 128},   {"shakespeare out", 768, 128, 128},
    {"shakespeare up", 768, 688, 128},    {"shakespeare down", 768, 128, 344},
    {"shakespeare head", 512, 258, 128},
};

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A matrix where the program would have it: in an arena, aligned.
struct Matrix {
  explicit Matrix(int64_t count, unsigned seed = 0)
      : arena(ingot::Device::cpu(), count * 4),
        data(arena.place(0, DType::F32, {count}).as<float>()) {
    for (int64_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      data[i] = static_cast<float>(seed >> 8) / static_cast<float>(1 << 24) - 0.5f;
    }
  }
  ingot::Arena arena;
  float* data;
};

void by_onednn(const Gemm& g) {
  dnnl_sgemm(g.a.transposed ? 'T' : 'N', g.b.transposed ? 'T' : 'N', g.M, g.N, g.K, 1.0f,
             static_cast<const float*>(g.a.data), g.a.stride, static_cast<const float*>(g.b.data),
             g.b.stride, g.accumulate ? 1.0f : 0.0f, static_cast<float*>(g.c), g.c_stride);
}

void by_ours(const Gemm& g) {
  INGOT_DOT_DISPATCH(gemm_block, g, GemmBlock{0, 0, g.M, g.N});
}

struct Rate {
  double onednn = 0, ours = 0;  // FLOP/s
};

Rate measure(const Gemm& g) {
  const double flops = 2.0 * static_cast<double>(g.M * g.N) * static_cast<double>(g.K);
  // Short runs fit between two interruptions.
  const int repeats = std::max(1, static_cast<int>(1e8 / flops));
  const int rounds = std::max(16, static_cast<int>(3e10 / (flops * repeats)));
  const auto seconds = [&](const std::function<void(const Gemm&)>& run_gemm) {
    const double start = thread_seconds();
    for (int i = 0; i < repeats; ++i) run_gemm(g);
    return (thread_seconds() - start) / repeats;
  };
  std::vector<double> onednn, ours;
  for (int i = 0; i < rounds; ++i) {
    onednn.push_back(seconds(by_onednn));
    ours.push_back(seconds(by_ours));
  }
  // What an eighth of the runs reach: they were not disturbed. The very best may be the clock's
  // error: it has shown more than the machine can do.
  const auto rate = [&](std::vector<double>& times) {
    const auto eighth = times.begin() + rounds / 8;
    std::nth_element(times.begin(), eighth, times.end());
    return flops / *eighth;
  };
  return {rate(onednn), rate(ours)};
}

// The largest difference between the two as a part of the bound on it: K roundings of sums of K
// products of about 1/16.
double disagreement(Gemm g) {
  const size_t count = static_cast<size_t>(g.M * g.N);
  std::vector<float> one(count), other(count);
  g.accumulate = false;
  g.c = one.data();
  by_onednn(g);
  g.c = other.data();
  by_ours(g);
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(one[i]) - static_cast<double>(other[i])));
  }
  const double K = static_cast<double>(g.K);
  return worst / (6e-8 * K * K / 16);
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  for (Isa isa : kAllIsas) {
    if (argc > 1 && std::string_view(argv[1]) == name_of(isa)) force_isa(isa);
  }
  dnnl_set_max_cpu_isa(active_isa() == Isa::Avx512 ? dnnl_cpu_isa_avx512_core
                       : active_isa() == Isa::Avx2 ? dnnl_cpu_isa_avx2
                                                   : dnnl_cpu_isa_sse41);
  fmt::print("{}: GFLOP/s of one thread, oneDNN and ours\n", name_of(active_isa()));
  double onednn = 0, ours = 0, worst = 0;
  for (const Linear& s : kShapes) {
    const Matrix x(s.N * s.C, 1), w(s.R * s.C, 2), y(s.N * s.R, 3);
    const Matrix out(std::max({s.N * s.C, s.R * s.C, s.N * s.R}));
    const auto operand = [](const Matrix& m, int64_t stride, bool transposed) {
      return GemmOperand{m.data, DType::F32, stride, transposed};
    };
    const Gemm gemms[] = {{s.N, s.R, s.C, operand(x, s.C, false), operand(w, s.C, true), out.data,
                           DType::F32, s.R, false},
                          {s.N, s.C, s.R, operand(y, s.R, false), operand(w, s.C, false), out.data,
                           DType::F32, s.C, false},
                          {s.R, s.C, s.N, operand(y, s.R, true), operand(x, s.C, false), out.data,
                           DType::F32, s.C, true}};
    fmt::print("{:<16} ({:>4}, {:>4}, {:>4})", s.name, s.N, s.R, s.C);
    const char* names[] = {"forward", "d_input", "d_weight"};
    for (int i = 0; i < 3; ++i) {
      worst = std::max(worst, disagreement(gemms[i]));
      const Rate rate = measure(gemms[i]);
      fmt::print("  {} {:6.1f} {:6.1f}", names[i], rate.onednn * 1e-9, rate.ours * 1e-9);
      onednn += 1 / rate.onednn;
      ours += 1 / rate.ours;
    }
    fmt::print("\n");
  }
  const double count = 3.0 * static_cast<double>(std::size(kShapes));
  fmt::print("mean {:.1f} {:.1f}, ours / oneDNN {:.3f}, largest difference {:.2g} of the bound\n",
             count / onednn * 1e-9, count / ours * 1e-9, onednn / ours, worst);
  return worst < 1 ? 0 : 1;
}
