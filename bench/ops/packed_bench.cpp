// Packed linear layers of whole models: tokens a second, and the share of what memory can be read
// with.
//
// packed_bench [MODEL…] [FORMAT…] [ISA] [-t THREADS] [-n ROWS]: runs alternate over the rows asked
// for (1, 16 and 512) and print the median. On a busy machine: chrt -f 50 packed_bench.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/device/arena.h"
#include "core/device/isa.h"
#include "core/device/thread_pool.h"
#include "ops/packed_linear.h"

namespace {

using namespace ingot;

struct Matrix {
  const char* name;
  int64_t rows, cols;
};

struct Model {
  const char* name;
  int64_t layers;
  Matrix layer[4];
  Matrix head;
};

constexpr Model kModels[] = {
    {"smollm2_360m",
     32,
     {{"qkv", 1600, 960}, {"out", 960, 960}, {"gate_up", 5120, 960}, {"down", 960, 2560}},
     {"head", 49152, 960}},
    {"llama_1b",
     16,
     {{"qkv", 3072, 2048}, {"out", 2048, 2048}, {"gate_up", 16384, 2048}, {"down", 2048, 8192}},
     {"head", 128256, 2048}},
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// Bytes a second that all threads read together, from memory that no cache holds.
double read_bandwidth(ThreadPool& pool) {
  constexpr int64_t kBytes = int64_t{256} << 20, kChunk = int64_t{1} << 20;
  const Arena arena(Device::cpu(), kBytes);
  auto* data = arena.place(0, DType::U8, {kBytes}).as<uint8_t>();
  std::memset(data, 1, kBytes);
  std::vector<double> rates;
  uint64_t sink = 0;
  for (int round = 0; round < 7; ++round) {
    const double start = now();
    pool.run(kBytes / kChunk, [&](int64_t task, int) {
      const auto* words = reinterpret_cast<const uint64_t*>(data + task * kChunk);
      uint64_t even = 0, odd = 0;
      for (int64_t i = 0; i < kChunk / 8; i += 8) {
        __builtin_prefetch(words + i + 512);
        even += (words[i] + words[i + 2]) + (words[i + 4] + words[i + 6]);
        odd += (words[i + 1] + words[i + 3]) + (words[i + 5] + words[i + 7]);
      }
      __atomic_fetch_add(&sink, even + odd, __ATOMIC_RELAXED);
    });
    rates.push_back(static_cast<double>(kBytes) / (now() - start));
  }
  if (sink == 0) fmt::print("\n");  // keeps the sums
  return median(rates);
}

// As many copies of the matrix as no cache holds.
class Copies {
 public:
  Copies(Context& ctx, WeightFormat format, const Matrix& m) {
    constexpr int64_t kCold = int64_t{192} << 20;
    const int64_t bytes = packed_bytes(format, m.rows, m.cols), count = kCold / bytes + 1;
    arena_ = Arena(Device::cpu(), bytes * count);
    std::vector<float> row(static_cast<size_t>(m.cols));
    for (int64_t i = 0; i < count; ++i)
      weights_.push_back({arena_.place(i * bytes, DType::U8, {bytes}), format, m.rows, m.cols});
    for (int64_t r = 0; r < m.rows; ++r) {
      for (size_t k = 0; k < row.size(); ++k)
        row[k] =
            static_cast<float>((static_cast<size_t>(r) * 7919 + k * 104729) % 1000) * 1e-3f - 0.5f;
      pack_rows(ctx, Tensor::contiguous(row.data(), DType::F32, {1, m.cols}), r, weights_[0]);
    }
    for (size_t i = 1; i < weights_.size(); ++i)
      std::memcpy(weights_[i].bytes.data, weights_[0].bytes.data, static_cast<size_t>(bytes));
  }
  const PackedWeight& next() { return weights_[at_++ % weights_.size()]; }

 private:
  Arena arena_{Device::cpu(), 0};
  std::vector<PackedWeight> weights_;
  size_t at_ = 0;
};

// Seconds of one GEMM.
double measure(Context& ctx, Copies& copies, const Matrix& m, int64_t N, double budget) {
  std::vector<float> x(static_cast<size_t>(N * m.cols)), y(static_cast<size_t>(N * m.rows));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 31 % 1000) * 1e-3f - 0.5f;
  std::vector<double> times;
  const double end = now() + budget;
  while (times.size() < 3 || (now() < end && times.size() < 200)) {
    const PackedWeight& w = copies.next();
    const double start = now();
    packed_linear_forward(ctx, Tensor::contiguous(x.data(), DType::F32, {N, m.cols}), w,
                          Tensor::contiguous(y.data(), DType::F32, {N, m.rows}));
    times.push_back(now() - start);
  }
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Model> models;
  std::vector<WeightFormat> formats;
  std::vector<int64_t> rows;
  int threads = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    for (const Model& model : kModels)
      if (word == model.name) models.push_back(model);
    for (const cpu::DotIsa isa : cpu::kAllDotIsas)
      if (word == cpu::name_of(isa)) cpu::force_dot_isa(isa);
    if (const auto format = parse_weight_format(word)) formats.push_back(*format);
    if (word == "-t" && i + 1 < argc) threads = std::atoi(argv[++i]);
    if (word == "-n" && i + 1 < argc) rows.push_back(std::atoi(argv[++i]));
  }
  if (models.empty()) models.assign(std::begin(kModels), std::end(kModels));
  if (formats.empty()) formats.assign(std::begin(kAllWeightFormats), std::end(kAllWeightFormats));
  if (rows.empty()) rows = {1, 16, 512};

  ThreadPool pool(threads);
  const Arena scratch(Device::cpu(), int64_t{64} << 20);
  Context ctx;
  ctx.pool = &pool;
  ctx.workspace = Workspace(scratch.place(0, DType::U8, {scratch.bytes()}));
  const double bandwidth = read_bandwidth(pool);
  fmt::print("{}, {} threads, reads {:.1f} GB/s\n", cpu::name_of(cpu::active_dot_isa()), threads,
             bandwidth * 1e-9);
  for (const Model& model : models) {
    for (const WeightFormat format : formats) {
      std::vector<double> seconds(rows.size());
      double bytes = 0, flops = 0;
      const auto add = [&](const Matrix& m, int64_t count, int64_t one_row) {
        Copies copies(ctx, format, m);
        const double share = static_cast<double>(count);
        bytes += share * static_cast<double>(packed_bytes(format, m.rows, m.cols));
        for (size_t i = 0; i < rows.size(); ++i) {
          // The head computes only the last row of a prompt.
          const int64_t N = one_row != 0 && rows[i] > 64 ? 1 : rows[i];
          const double time = measure(ctx, copies, m, N, rows[i] > 64 ? 0.4 : 0.15);
          seconds[i] += share * time;
          const double f = 2.0 * static_cast<double>(N * m.rows * m.cols);
          fmt::print("  {:8} N {:3}: {:8.1f} us {:7.1f} GFLOP/s {:5.1f} GB/s\n", m.name, N,
                     time * 1e6, f / time * 1e-9,
                     static_cast<double>(packed_bytes(format, m.rows, m.cols)) / time * 1e-9);
        }
        flops += share * 2.0 * static_cast<double>(m.rows * m.cols);
      };
      for (const Matrix& m : model.layer) add(m, model.layers, 0);
      add(model.head, 1, 1);
      for (size_t i = 0; i < rows.size(); ++i)
        fmt::print("{} {} N {}: {:.1f} tok/s, {:.1f} GB/s ({:.0f} % of reads)\n", model.name,
                   name_of(format), rows[i], static_cast<double>(rows[i]) / seconds[i],
                   bytes / seconds[i] * 1e-9, 100 * bytes / seconds[i] / bandwidth);
    }
  }
  return 0;
}
