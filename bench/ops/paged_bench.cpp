// Attention over pages of whole models: time a step, GFLOP/s and GB/s of cache read.
//
// paged_bench [generic|avx2|avx512] [-t THREADS]: one layer after the other, each with a cache of
// its own, medians. On a busy machine: chrt -f 50 paged_bench.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/device/arena.h"
#include "core/device/isa.h"
#include "core/device/thread_pool.h"
#include "ops/paged_attention.h"

namespace {

using namespace ingot;

struct Model {
  const char* name;
  int64_t layers, H, G, D;
};
constexpr Model kModels[] = {{"smollm2_360m", 32, 15, 5, 64}, {"llama_1b", 16, 32, 8, 64}};

struct Case {
  int64_t sequences, rows, context;  // each sequence's new rows end at `context`
};
constexpr Case kCases[] = {{1, 1, 512}, {1, 1, 4096}, {16, 1, 512}, {1, 512, 512}};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(Context& ctx, const Model& m, DType dtype, const Case& c) {
  constexpr int64_t kCold = int64_t{96} << 20;
  const int64_t pages = c.context / kPageTokens, elements = page_elements(m.G, m.D);
  const int64_t layer_bytes = c.sequences * pages * elements * size_of(dtype);
  const int64_t layers = std::max(m.layers, kCold / layer_bytes + 1), N = c.sequences * c.rows;
  const Arena arena(Device::cpu(), layers * layer_bytes);
  std::memset(arena.place(0, DType::U8, {arena.bytes()}).data, 0,
              static_cast<size_t>(arena.bytes()));
  std::vector<PagedCache> caches;
  for (int64_t i = 0; i < layers; ++i)
    caches.push_back({arena.place(i * layer_bytes, dtype, {c.sequences * pages, elements}), m.G});
  std::vector<int32_t> numbers(static_cast<size_t>(c.sequences * pages));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<float> q(static_cast<size_t>(N * m.H * m.D), 0.25f), out(q.size());
  std::vector<float> k(static_cast<size_t>(N * m.G * m.D)), v(k.size());
  std::vector<PagedSequence> sequences;
  for (int64_t s = 0; s < c.sequences; ++s)
    sequences.push_back({.pages = std::span(numbers).subspan(static_cast<size_t>(s * pages),
                                                             static_cast<size_t>(pages)),
                         .first_position = c.context - c.rows,
                         .first_row = s * c.rows,
                         .num_rows = c.rows});
  const auto heads = [&](std::vector<float>& values) {  // (N, H, D) or (N, G, D)
    const int64_t of_row = std::ssize(values) / (N * m.D);
    return Tensor::contiguous(values.data(), DType::F32, {N, of_row, m.D});
  };
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    const double start = now();
    for (int64_t i = 0; i < m.layers; ++i)
      paged_attention_forward(ctx, heads(q), heads(k), heads(v),
                              caches[static_cast<size_t>((round * m.layers + i) % layers)],
                              {.sequences = sequences}, {}, heads(out));
    times.push_back(now() - start);
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  // Keys that all rows see.
  const double keys = static_cast<double>(c.sequences * c.rows) *
                      (static_cast<double>(c.context) - static_cast<double>(c.rows - 1) / 2);
  const double flops = 4.0 * keys * static_cast<double>(m.H * m.D * m.layers);
  fmt::print("{:12} {:4} {:2} x {:3} rows at {:4}: {:9.1f} us {:6.1f} GFLOP/s {:5.1f} GB/s\n",
             m.name, name_of(dtype), c.sequences, c.rows, c.context, times[2] * 1e6,
             flops / times[2] * 1e-9,
             static_cast<double>(layer_bytes * m.layers) / times[2] * 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    for (const cpu::Isa isa : cpu::kAllIsas)
      if (word == cpu::name_of(isa)) cpu::force_isa(isa);
    if (word == "-t" && i + 1 < argc) threads = std::atoi(argv[++i]);
  }
  ThreadPool pool(threads);
  Context ctx;
  ctx.pool = &pool;
  for (const Model& model : kModels)
    for (const DType dtype : {DType::F32, DType::BF16})
      for (const Case& c : kCases) measure(ctx, model, dtype, c);
  return 0;
}
