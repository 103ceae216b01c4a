#include "ops/paged_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/error/error.h"
#include "paged_options.h"
#include "rig.h"
#include "support/forced_isa.h"

namespace ingot {
namespace {

using test::view;
using test::with;

struct Heads {
  int64_t H = 6, G = 2, D = 32;
};

std::vector<float> normal(int64_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(rng);
  return values;
}

// The heads of a sequence of T tokens.
struct Sequence {
  Sequence(const Heads& heads, int64_t length, unsigned seed)
      : T(length),
        q(normal(length * heads.H * heads.D, seed)),
        k(normal(length * heads.G * heads.D, seed + 1)),
        v(normal(length * heads.G * heads.D, seed + 2)) {}
  int64_t T;
  std::vector<float> q, k, v;
};

// A cache whose pages are handed out in a random order, and hold NaN until they are written.
class Cache {
 public:
  Cache(const Heads& heads, DType dtype, int64_t num_pages, unsigned seed)
      : heads_(heads),
        bytes_(static_cast<size_t>(num_pages * page_elements(heads.G, heads.D) * size_of(dtype)),
               std::byte{0xff}),
        free_(static_cast<size_t>(num_pages)) {
    cache = {Tensor::contiguous(bytes_.data(), dtype, {num_pages, page_elements(heads.G, heads.D)}),
             heads.G};
    std::iota(free_.begin(), free_.end(), 0);
    std::shuffle(free_.begin(), free_.end(), std::mt19937(seed));
  }
  std::vector<int32_t> take(int64_t tokens) {
    std::vector<int32_t> pages;
    for (int64_t t = 0; t < tokens; t += kPageTokens) {
      pages.push_back(free_.back());
      free_.pop_back();
    }
    return pages;
  }
  PagedCache cache;

 private:
  Heads heads_;
  std::vector<std::byte> bytes_;
  std::vector<int32_t> free_;
};

// A batch of rows, each some tokens of a sequence, run at once. Heads lie in packed rows (N, (H +
// 2G)·D), as a layer has them.
class Batch {
 public:
  Batch(const Heads& heads, Cache& cache) : heads_(heads), cache_(cache) {}

  void add(const Sequence& s, std::span<const int32_t> pages, int64_t begin, int64_t end) {
    sequences_.push_back({pages, begin, num_rows_, end - begin});
    const auto put = [&](const std::vector<float>& values, int64_t width, int64_t t) {
      rows_.insert(rows_.end(), values.begin() + t * width, values.begin() + (t + 1) * width);
    };
    for (int64_t t = begin; t < end; ++t) {
      put(s.q, heads_.H * heads_.D, t);
      put(s.k, heads_.G * heads_.D, t);
      put(s.v, heads_.G * heads_.D, t);
    }
    num_rows_ += end - begin;
  }

  // (N, H·D) of all rows.
  std::vector<float> run(const AttentionOptions& options, int threads = 2) {
    const auto [H, G, D] = heads_;
    ThreadPool pool(threads);
    test::Rig rig;
    rig.ctx.pool = &pool;
    const Tensor rows = view(rows_, {num_rows_, (H + 2 * G) * D}).split(1, H + 2 * G, D);
    std::vector<float> out(static_cast<size_t>(num_rows_ * H * D), -77.0f);
    paged_attention_forward(rig.ctx, rows.slice(1, 0, H), rows.slice(1, H, H + G),
                            rows.slice(1, H + G, H + 2 * G), cache_.cache,
                            {.sequences = sequences_}, options, view(out, {num_rows_, H, D}));
    return out;
  }

 private:
  Heads heads_;
  Cache& cache_;
  int64_t num_rows_ = 0;
  std::vector<float> rows_;
  std::vector<PagedSequence> sequences_;
};

// The whole sequence in chunks.
std::vector<float> in_chunks(const Heads& heads, const Sequence& s, DType dtype,
                             const AttentionOptions& options, int64_t chunk, unsigned page_seed = 1,
                             int threads = 2) {
  Cache cache(heads, dtype, 64, page_seed);
  const std::vector<int32_t> pages = cache.take(s.T);
  std::vector<float> out;
  for (int64_t t = 0; t < s.T; t += chunk) {
    Batch batch(heads, cache);
    batch.add(s, pages, t, std::min(t + chunk, s.T));
    const std::vector<float> rows = batch.run(options, threads);
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

std::vector<double> exact(const Heads& heads, const Sequence& s, DType dtype,
                          const AttentionOptions& options) {
  const auto [H, G, D] = heads;
  const auto stored = [&](float x) {
    return static_cast<double>(dtype == DType::BF16 ? Bf16::from_float(x).to_float() : x);
  };
  const double scale = options.scale == 0 ? 1 / std::sqrt(static_cast<double>(D)) : options.scale;
  std::vector<double> out;
  for (int64_t t = 0; t < s.T; ++t) {
    for (int64_t h = 0; h < H; ++h) {
      const int64_t g = h / (H / G);
      const int64_t first = options.window > 0 ? std::max<int64_t>(0, t + 1 - options.window) : 0;
      std::vector<double> sums(static_cast<size_t>(D));
      double total = 0;
      for (int64_t key = first; key <= t; ++key) {
        double score = 0;
        for (int64_t d = 0; d < D; ++d)
          score += static_cast<double>(s.q[static_cast<size_t>((t * H + h) * D + d)]) *
                   stored(s.k[static_cast<size_t>((key * G + g) * D + d)]);
        score *= scale;
        if (options.softcap > 0) score = options.softcap * std::tanh(score / options.softcap);
        const double weight = std::exp(score);
        total += weight;
        for (int64_t d = 0; d < D; ++d)
          sums[static_cast<size_t>(d)] +=
              weight * stored(s.v[static_cast<size_t>((key * G + g) * D + d)]);
      }
      for (const double sum : sums) out.push_back(sum / total);
    }
  }
  return out;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), expected[i], 2e-5) << i;
}

class PagedAttention : public ::testing::Test {
 protected:
  ~PagedAttention() override { cpu::force_isa(cpu::best_isa()); }
  void on_each_isa(auto f) {
    for (const cpu::Isa isa : test::runnable_isas()) {
      cpu::force_isa(isa);
      SCOPED_TRACE(cpu::name_of(isa));
      f();
    }
  }
  // A window, a soft cap and a scale of its own.
  std::vector<AttentionOptions> all_options() {
    return {{}, with(37), with(0, 2.5), with(1, 1.5, 0.3)};
  }
};

TEST_F(PagedAttention, AgreesWithExactSumsOnEveryIsa) {
  on_each_isa([this] {
    for (const Heads& heads : {Heads{}, Heads{4, 4, 64}, Heads{3, 1, 20}, Heads{2, 1, 80},
                               Heads{1, 1, 7}, Heads{50, 1, 8}}) {
      const Sequence s(heads, 150, 5);
      for (const AttentionOptions& options : all_options())
        for (const DType dtype : {DType::F32, DType::BF16})
          expect_near(in_chunks(heads, s, dtype, options, 41), exact(heads, s, dtype, options));
    }
  });
}

TEST_F(PagedAttention, BitsDoNotDependOnChunksPagesOrThreads) {
  on_each_isa([this] {
    const Heads heads;
    const Sequence s(heads, 200, 5);
    for (const AttentionOptions& options : all_options()) {
      for (const DType dtype : {DType::F32, DType::BF16}) {
        const std::vector<float> whole = in_chunks(heads, s, dtype, options, s.T);
        for (const int64_t chunk : {1, 3, 16, 64, 65, 199})
          ASSERT_EQ(in_chunks(heads, s, dtype, options, chunk, 2), whole) << chunk;
        for (const int threads : {1, 3})
          ASSERT_EQ(in_chunks(heads, s, dtype, options, 50, 3, threads), whole) << threads;
      }
    }
  });
}

TEST_F(PagedAttention, BitsDoNotDependOnTheBatch) {
  on_each_isa([this] {
    const Heads heads;
    std::vector<Sequence> sequences;
    for (const int64_t T : {1, 17, 64, 130, 65, 100, 16}) {
      sequences.emplace_back(heads, T, static_cast<unsigned>(100 * T));
    }
    for (const AttentionOptions& options : all_options()) {
      Cache cache(heads, DType::F32, 64, 4);
      std::vector<std::vector<int32_t>> pages;
      Batch prompts(heads, cache), last(heads, cache);
      std::vector<float> prompts_alone, last_alone;
      const auto append = [](std::vector<float>& to, auto begin, auto end) {
        to.insert(to.end(), begin, end);
      };
      for (const Sequence& s : sequences) pages.push_back(cache.take(s.T));
      for (size_t i = 0; i < sequences.size(); ++i) {
        const Sequence& s = sequences[i];
        if (s.T > 1) prompts.add(s, pages[i], 0, s.T - 1);
        last.add(s, pages[i], s.T - 1, s.T);  // one token each
        const std::vector<float> alone = in_chunks(heads, s, DType::F32, options, s.T);
        append(prompts_alone, alone.begin(), alone.end() - heads.H * heads.D);
        append(last_alone, alone.end() - heads.H * heads.D, alone.end());
      }
      EXPECT_EQ(prompts.run(options), prompts_alone);
      EXPECT_EQ(last.run(options), last_alone);
    }
  });
}

TEST_F(PagedAttention, PagesBeforeTheWindowAreNotRead) {
  const Heads heads;
  const Sequence s(heads, 100, 5);
  const AttentionOptions options = with(20);
  const std::vector<float> whole = in_chunks(heads, s, DType::F32, options, s.T);
  Cache cache(heads, DType::F32, 64, 4);
  std::vector<int32_t> pages = cache.take(s.T);
  Batch before(heads, cache), after(heads, cache);
  before.add(s, pages, 0, 99);
  before.run(options);
  std::fill_n(pages.begin(), 5, -1);  // the last query sees 80 to 99
  after.add(s, pages, 99, 100);
  const std::vector<float> last = after.run(options);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), whole.end() - heads.H * heads.D));
}

TEST_F(PagedAttention, IsTheAttentionOfTraining) {
  const Heads heads;
  Sequence s(heads, 120, 5);
  for (const AttentionOptions& options : all_options()) {
    std::vector<float> out(s.q.size()), lse(static_cast<size_t>(heads.H * s.T));
    test::Rig rig;
    attention_forward(rig.ctx,
                      {.q = view(s.q, {1, s.T, heads.H, heads.D}),
                       .k = view(s.k, {1, s.T, heads.G, heads.D}),
                       .v = view(s.v, {1, s.T, heads.G, heads.D}),
                       .out = view(out, {1, s.T, heads.H, heads.D}),
                       .lse = view(lse, {1, heads.H, s.T})},
                      options);
    expect_near(in_chunks(heads, s, DType::F32, options, 33), {out.begin(), out.end()});
  }
}

TEST_F(PagedAttention, WrongOperandsAreNamed) {
  const Heads heads;
  Sequence s(heads, 20, 5);
  Cache cache(heads, DType::F32, 4, 1);
  const std::vector<int32_t> pages = cache.take(20), wrong = {0, 4};
  const std::vector<int32_t> one_page = {0};
  const auto attempt = [&](const std::vector<int32_t>& table, const AttentionOptions& options) {
    Batch batch(heads, cache);
    batch.add(s, table, 0, 20);
    batch.run(options);
  };
  EXPECT_NO_THROW(attempt(pages, {}));
  EXPECT_THROW(attempt(one_page, {}), Error);
  EXPECT_THROW(attempt(wrong, {}), Error);
  EXPECT_THROW(attempt(pages, with(-1)), Error);
  AttentionOptions not_causal;
  not_causal.causal = false;
  EXPECT_THROW(attempt(pages, not_causal), Error);
}

}  // namespace
}  // namespace ingot
