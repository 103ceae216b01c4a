// Attention over pages on a GPU: the CPU's numbers for every shape of heads and every option, rows
// of prompts and rows of replies side by side, and rows that are none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/tensor/dtype.h"
#include "ops/memory.h"
#include "ops/paged_attention.h"
#include "paged_options.h"
#include "probe/operands.h"
#include "support/on_gpu.h"

namespace ingot {
namespace {

using test::with;

struct Heads {
  int64_t H, G, D;
};

struct Paged {
  std::vector<int32_t> pages;
  int64_t length;
};

// Sequences with a cache on the CPU and one on the GPU. Heads lie in packed rows (N, (H + 2G)·D),
// as a layer has them; BF16 values are the same on both sides.
class TwoCaches {
 public:
  TwoCaches(Context& gpu, Context cpu, const Heads& heads, DType dtype,
            const std::vector<int64_t>& lengths)
      : gpu_(gpu), cpu_(cpu), operands_(gpu), heads_(heads), dtype_(dtype) {
    int32_t page = 0;
    for (const int64_t length : lengths) {
      sequences_.push_back({{}, length});
      for (int64_t t = 0; t < length; t += kPageTokens) sequences_.back().pages.push_back(page++);
    }
    std::vector<int32_t> order(static_cast<size_t>(page));
    for (int32_t i = 0; i < page; ++i) order[static_cast<size_t>(i)] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (Paged& s : sequences_)
      for (int32_t& id : s.pages) id = order[static_cast<size_t>(id)];
    const Shape shape{page, page_elements(heads.G, heads.D)};
    const float nan = std::numeric_limits<float>::quiet_NaN();
    cpu_pages_.assign(static_cast<size_t>(shape.numel()), nan);
    cpu_cache_ = {Tensor::contiguous(cpu_pages_.data(), DType::F32, shape), heads.G};
    gpu_cache_ = {operands_.zeros(dtype, shape), heads.G};
    send(cpu_pages_, gpu_cache_.pages);
    ctx_ = operands_.with_workspace(
        paged_attention_workspace_bytes(gpu.facts, {.dtype = dtype,
                                                    .max_rows = 512,
                                                    .max_context = 4096,
                                                    .heads = heads.H,
                                                    .kv_heads = heads.G,
                                                    .head_dim = heads.D,
                                                    .deterministic = true}));
  }

  // Positions [begin of s, end of s) of all sequences at once, then `padding` rows that are none.
  // Returns the largest difference, relative to the largest value.
  double run(const AttentionOptions& options, const auto& begin_of, const auto& end_of,
             int64_t padding = 0) {
    const auto [H, G, D] = heads_;
    std::vector<PagedSequence> sequences;
    std::vector<int32_t> ends, first_pages, page_ids;
    int64_t N = 0;
    for (const Paged& s : sequences_) {
      const int64_t begin = begin_of(s), n = end_of(s) - begin;
      sequences.push_back({s.pages, begin, N, n});
      for (int64_t i = 0; i < n; ++i) {
        ends.push_back(static_cast<int32_t>(begin + i + 1));
        first_pages.push_back(static_cast<int32_t>(page_ids.size()));
      }
      page_ids.insert(page_ids.end(), s.pages.begin(), s.pages.end());
      N += n;
    }
    ends.resize(static_cast<size_t>(N + padding));
    first_pages.resize(static_cast<size_t>(N + padding));
    const PagedBatch on_gpu{.sequences = sequences,
                            .rows = {.ends = on_device(ends),
                                     .first_pages = on_device(first_pages),
                                     .page_ids = on_device(page_ids),
                                     .context = 4096}};
    std::vector<float> rows(static_cast<size_t>((N + padding) * (H + 2 * G) * D));
    std::normal_distribution<float> draw;
    for (float& value : rows) {
      value = draw(rng_);
      if (dtype_ == DType::BF16) value = Bf16::from_float(value).to_float();
    }
    const Tensor gpu_rows = operands_.zeros(dtype_, {N + padding, (H + 2 * G) * D});
    send(rows, gpu_rows);
    const Tensor out = operands_.zeros(dtype_, {N + padding, H, D});
    std::vector<float> expected(static_cast<size_t>(N * H * D));
    const auto compute = [&](Context& ctx, const Tensor& packed, const PagedCache& cache,
                             const PagedBatch& batch, const Tensor& to) {
      const Tensor all = packed.split(1, H + 2 * G, D);
      paged_attention_forward(ctx, all.slice(1, 0, H), all.slice(1, H, H + G),
                              all.slice(1, H + G, H + 2 * G), cache, batch, options, to);
    };
    compute(cpu_, Tensor::contiguous(rows.data(), DType::F32, {N, (H + 2 * G) * D}), cpu_cache_,
            {.sequences = sequences}, Tensor::contiguous(expected.data(), DType::F32, {N, H, D}));
    compute(ctx_, gpu_rows, gpu_cache_, on_gpu, out);
    const std::vector<float> got = received(out);
    compute(ctx_, gpu_rows, gpu_cache_, on_gpu, out);
    EXPECT_EQ(received(out), got) << "equal inputs give equal bits";
    double difference = 0, largest = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double off = std::abs(double{got[i]} - double{expected[i]});
      difference = std::isnan(off) ? off : std::max(difference, off);
      largest = std::max(largest, std::abs(double{expected[i]}));
    }
    return difference / largest;
  }

 private:
  Tensor on_device(const std::vector<int32_t>& values) {
    const Tensor tensor = operands_.zeros(DType::I32, {std::ssize(values)});
    copy_from_host(gpu_, values.data(), tensor);
    return tensor;
  }
  void send(const std::vector<float>& values, const Tensor& to) {
    if (dtype_ == DType::F32) return copy_from_host(gpu_, values.data(), to);
    std::vector<Bf16> rounded(values.size());
    std::ranges::transform(values, rounded.begin(), Bf16::from_float);
    copy_from_host(gpu_, rounded.data(), to);
  }
  std::vector<float> received(const Tensor& from) {
    std::vector<float> values(static_cast<size_t>(from.numel()));
    if (dtype_ == DType::F32) {
      copy_to_host(gpu_, from, values.data());
      return values;
    }
    std::vector<Bf16> rounded(values.size());
    copy_to_host(gpu_, from, rounded.data());
    std::ranges::transform(rounded, values.begin(), [](Bf16 x) { return x.to_float(); });
    return values;
  }

  Context& gpu_;
  Context cpu_, ctx_;
  Operands operands_;
  Heads heads_;
  DType dtype_;
  std::mt19937 rng_{5};
  std::vector<Paged> sequences_;
  std::vector<float> cpu_pages_;
  PagedCache cpu_cache_, gpu_cache_;
};

class CudaPagedAttention : public test::OnGpu<::testing::Test> {
 protected:
  // Prompts of all tokens but the last two, in one call; then the last two, one at a time.
  static void expect_the_cpus(const Heads& heads, DType dtype, const AttentionOptions& options,
                              const std::vector<int64_t>& lengths) {
    TwoCaches caches(gpu(), cpu(), heads, dtype, lengths);
    const double most = dtype == DType::F32 ? 2e-6 : 6e-3;
    const auto tokens_before_end = [](int64_t n) {
      return [n](const Paged& s) { return s.length - n; };
    };
    EXPECT_LT(caches.run(
                  options, [](const Paged&) { return 0; }, tokens_before_end(2)),
              most);
    EXPECT_LT(caches.run(options, tokens_before_end(2), tokens_before_end(1)), most);
    EXPECT_LT(caches.run(options, tokens_before_end(1), tokens_before_end(0), 3), most);
  }
};

TEST_F(CudaPagedAttention, RowsOfRepliesAreTheCpus) {
  for (const Heads& heads :
       {Heads{8, 2, 64}, Heads{4, 4, 64}, Heads{6, 1, 128}, Heads{8, 1, 80}, Heads{18, 2, 64},
        Heads{3, 1, 20}, Heads{2, 1, 256}, Heads{3, 1, 7}, Heads{4, 2, 8}}) {
    for (const AttentionOptions& options : {with(0), with(37), with(0, 2.5), with(3, 1.5, 0.3)}) {
      for (const DType dtype : {DType::F32, DType::BF16}) {
        SCOPED_TRACE(fmt::format("H {} G {} D {} window {} cap {} {}", heads.H, heads.G, heads.D,
                                 options.window, options.softcap, name_of(dtype)));
        expect_the_cpus(heads, dtype, options, {3, 17, 64, 130, 33});
      }
    }
  }
}

// Many blocks of a row, and rows enough that a row has one.
TEST_F(CudaPagedAttention, LongAndManySequencesAreTheCpus) {
  for (const DType dtype : {DType::F32, DType::BF16}) {
    expect_the_cpus({8, 2, 64}, dtype, with(0), {2500});
    expect_the_cpus({8, 2, 64}, dtype, with(1000), {2500, 900});
    expect_the_cpus({32, 8, 64}, dtype, with(0), std::vector<int64_t>(40, 50));
  }
}

// A row of a reply between pieces of prompts.
TEST_F(CudaPagedAttention, RepliesAndPromptsSideBySideAreTheCpus) {
  TwoCaches caches(gpu(), cpu(), {8, 2, 64}, DType::F32, {20, 21, 40, 41, 60});
  const auto middle = [](const Paged& s) {
    return s.length % 20 == 1 ? s.length - 1 : s.length / 2;
  };
  EXPECT_LT(caches.run(
                with(0), [](const Paged&) { return 0; }, middle),
            2e-6);
  EXPECT_LT(caches.run(with(0), middle, [](const Paged& s) { return s.length; }), 2e-6);
}

}  // namespace
}  // namespace ingot
