#include "ops/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/error/error.h"
#include "support/forced_isa.h"

namespace ingot {
namespace {

// A matrix in rows of a wider buffer, so that a kernel that ignores the stride is seen, and one
// that writes outside its columns too.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t cols, DType dtype, std::mt19937& rng, int64_t pad = 3)
      : rows_(rows), cols_(cols), stride_(cols + pad), dtype_(dtype) {
    bytes_.resize(static_cast<size_t>(std::max<int64_t>(1, rows_ * stride_) * size_of(dtype)));
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < rows_ * stride_; ++i) put(i, normal(rng));
  }

  Tensor tensor() {
    Tensor t = Tensor::contiguous(bytes_.data(), dtype_, {rows_, stride_});
    return t.slice(1, 0, cols_);
  }
  double at(int64_t row, int64_t col) const { return get(row * stride_ + col); }
  void put(int64_t row, int64_t col, double value) { put(row * stride_ + col, value); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  int64_t cols() const { return cols_; }
  // The bytes between the columns, which nobody may touch.
  std::vector<double> padding() const {
    std::vector<double> values;
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t j = cols_; j < stride_; ++j) values.push_back(at(i, j));
    return values;
  }

 private:
  void put(int64_t i, double value) {
    if (dtype_ == DType::F64) {
      reinterpret_cast<double*>(bytes_.data())[i] = value;
    } else if (dtype_ == DType::F32) {
      reinterpret_cast<float*>(bytes_.data())[i] = static_cast<float>(value);
    } else {
      reinterpret_cast<Bf16*>(bytes_.data())[i] = Bf16::from_float(static_cast<float>(value));
    }
  }
  double get(int64_t i) const {
    if (dtype_ == DType::F64) return reinterpret_cast<const double*>(bytes_.data())[i];
    if (dtype_ == DType::F32) return reinterpret_cast<const float*>(bytes_.data())[i];
    return reinterpret_cast<const Bf16*>(bytes_.data())[i].to_float();
  }

  int64_t rows_, cols_, stride_;
  DType dtype_;
  std::vector<std::byte> bytes_;
};

enum class Pass { Forward, BackwardInput, BackwardWeight };
constexpr Pass kPasses[] = {Pass::Forward, Pass::BackwardInput, Pass::BackwardWeight};

struct Case {
  Pass pass = Pass::Forward;
  int64_t N = 1, R = 1, C = 1;  // x(N, C), w(R, C), y(N, R)
  DType in = DType::F32, out = DType::F32;
  Accumulate accumulate = Accumulate::No;
  int threads = 2;
};

// The operands and the result of one product; a · b without transposes in the names: (M, K), (K,
// N).
struct Operands {
  Operands(const Case& c, std::mt19937& rng)
      : a(c.N, c.pass == Pass::Forward ? c.C : c.R, c.in, rng),
        b(c.pass == Pass::BackwardWeight ? c.N : c.R, c.C, c.in, rng),
        out(c.pass == Pass::BackwardWeight ? c.R : c.N, c.pass == Pass::Forward ? c.R : c.C, c.out,
            rng) {}
  Matrix a, b, out;
};

void run(const Case& c, Operands& o) {
  ThreadPool pool(c.threads);
  Context ctx;
  ctx.pool = &pool;
  switch (c.pass) {
    case Pass::Forward:
      return linear_forward(ctx, o.a.tensor(), o.b.tensor(), o.out.tensor(),
                            c.accumulate == Accumulate::Yes ? o.out.tensor() : Tensor{});
    case Pass::BackwardInput:
      return linear_backward_input(ctx, o.a.tensor(), o.b.tensor(), o.out.tensor(), c.accumulate);
    case Pass::BackwardWeight:
      return linear_backward_weight(ctx, o.a.tensor(), o.b.tensor(), o.out.tensor(), c.accumulate);
  }
}

double unit_roundoff(DType dtype) {
  return dtype == DType::F64 ? 1.2e-16 : dtype == DType::F32 ? 6e-8 : 4e-3;
}

// |got - exact| against the bound of a sum of K products in F32 (F64), rounded once to the output.
void expect_close(const Case& c, const Operands& before, const Operands& after) {
  const bool weight = c.pass == Pass::BackwardWeight;
  const bool forward = c.pass == Pass::Forward;
  const int64_t M = weight ? c.R : c.N, N = forward ? c.R : c.C;
  const int64_t K = weight ? c.N : forward ? c.C : c.R;
  const DType sum_type = c.in == DType::F64 ? DType::F64 : DType::F32;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      double exact = c.accumulate == Accumulate::Yes ? before.out.at(i, j) : 0;
      double magnitude = std::abs(exact);
      for (int64_t k = 0; k < K; ++k) {
        const double term = (weight ? before.a.at(k, i) : before.a.at(i, k)) *
                            (forward ? before.b.at(j, k) : before.b.at(k, j));
        exact += term;
        magnitude += std::abs(term);
      }
      const double bound = static_cast<double>(K + 2) * unit_roundoff(sum_type) * magnitude +
                           unit_roundoff(c.out) * std::abs(exact);
      ASSERT_NEAR(after.out.at(i, j), exact, bound + 1e-300)
          << "product " << static_cast<int>(c.pass) << " N " << c.N << " R " << c.R << " C " << c.C
          << " in " << name_of(c.in) << " out " << name_of(c.out) << " at " << i << ", " << j
          << " on " << cpu::name_of(cpu::active_dot_isa());
    }
  }
  ASSERT_EQ(before.out.padding(), after.out.padding());
}

void check_case(const Case& c, std::mt19937& rng) {
  Operands after(c, rng);
  const Operands before = after;
  run(c, after);
  expect_close(c, before, after);
}

class Matmul : public ::testing::Test {
 protected:
  ~Matmul() override { cpu::force_isa(cpu::best_isa()); }
  std::mt19937 rng_{7};
};

TEST_F(Matmul, OddShapesAgreeWithExactSumsOnEveryIsa) {
  std::uniform_int_distribution<int64_t> extent(1, 70);
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (Pass pass : kPasses) {
      for (int i = 0; i < 12; ++i) {
        const Accumulate accumulate = i % 2 == 0 ? Accumulate::No : Accumulate::Yes;
        check_case(
            {pass, extent(rng_), extent(rng_), extent(rng_), DType::F32, DType::F32, accumulate},
            rng_);
      }
    }
  }
}

TEST_F(Matmul, ShapesBeyondOneBlockAgreeWithExactSums) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (Pass pass : kPasses) {
      // Each extent in turn exceeds what one part of rows (288), columns (2048) and k (256) holds.
      check_case({pass, 397, 33, 50}, rng_);
      check_case({pass, 41, 391, 50, DType::F32, DType::F32, Accumulate::Yes}, rng_);
      check_case({pass, 41, 33, 531}, rng_);
    }
  }
  check_case({Pass::Forward, 9, 4101, 5}, rng_);
}

TEST_F(Matmul, SixteenBitOperandsAreSummedInFloat) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (int64_t N : {3, 45}) {
      for (Accumulate accumulate : {Accumulate::No, Accumulate::Yes}) {
        for (DType out : {DType::F32, DType::BF16}) {
          check_case({Pass::Forward, N, 67, 300, DType::BF16, out, accumulate}, rng_);
          check_case({Pass::BackwardInput, N, 300, 67, DType::BF16, out, accumulate}, rng_);
        }
        check_case({Pass::BackwardWeight, N, 35, 67, DType::BF16, DType::F32, accumulate}, rng_);
      }
    }
  }
  // More rows and columns than one scratch tile of F32 sums.
  check_case({Pass::Forward, 530, 520, 9, DType::BF16, DType::BF16}, rng_);
}

TEST_F(Matmul, DoublesKeepTheirDigits) {
  for (Pass pass : kPasses) {
    check_case({pass, 7, 13, 19, DType::F64, DType::F64, Accumulate::No}, rng_);
    check_case({pass, 7, 13, 19, DType::F64, DType::F64, Accumulate::Yes}, rng_);
  }
}

TEST_F(Matmul, FewRowsAgreeWithExactSums) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (int64_t N = 1; N <= 9; ++N) {
      for (DType dtype : {DType::F32, DType::BF16}) {
        check_case({Pass::Forward, N, 131, 72 + N, dtype, dtype}, rng_);  // every tail
      }
    }
  }
}

TEST_F(Matmul, ARowsBitsDoNotDependOnTheNumberOfRows) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (DType dtype : {DType::F32, DType::BF16}) {
      Operands all({Pass::Forward, 20, 131, 700, dtype}, rng_);
      run({}, all);
      for (int64_t N : {1, 3, 8, 9}) {
        Operands few = all;
        ThreadPool pool(2);
        Context ctx;
        ctx.pool = &pool;
        linear_forward(ctx, few.a.tensor().slice(0, 20 - N, 20), few.b.tensor(),
                       few.out.tensor().slice(0, 0, N));
        for (int64_t i = 0; i < N; ++i)
          for (int64_t j = 0; j < 131; ++j)
            ASSERT_EQ(few.out.at(i, j), all.out.at(20 - N + i, j)) << N << " rows";
      }
    }
  }
}

TEST_F(Matmul, TheNumberOfThreadsDoesNotChangeABit) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (Pass pass : kPasses) {
      for (DType dtype : {DType::F32, DType::BF16}) {
        for (int64_t N : {5, 330}) {
          Case c{pass, N, 210, 290, dtype, DType::F32, Accumulate::Yes, 1};
          const Operands inputs(c, rng_);
          Operands one = inputs;
          run(c, one);
          for (int threads : {2, 3, 7}) {
            c.threads = threads;
            Operands more = inputs;
            run(c, more);
            ASSERT_TRUE(one.out.bytes() == more.out.bytes())
                << threads << " threads, " << cpu::name_of(isa) << ", N " << N;
          }
        }
      }
    }
  }
}

TEST_F(Matmul, AnEmptySumIsZero) {
  for (Pass pass : kPasses) {
    Case c{pass, 20, 20, 20};
    (pass == Pass::BackwardWeight ? c.N : pass == Pass::Forward ? c.C : c.R) = 0;
    check_case(c, rng_);
    c.accumulate = Accumulate::Yes;
    check_case(c, rng_);
  }
}

// In every k in turn, the last of an odd number too.
TEST_F(Matmul, NanAndInfinityStayInTheirRows) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (DType dtype : {DType::F32, DType::BF16}) {
      for (int64_t k = 0; k < 23; ++k) {
        Case c{Pass::Forward, 31, 37, 23, dtype};
        Operands o(c, rng_);
        o.a.put(29, k, INFINITY);
        o.a.put(30, k, NAN);
        run(c, o);
        for (int64_t i = 0; i < 31; ++i) {
          for (int64_t j = 0; j < 37; ++j) {
            ASSERT_EQ(std::isnan(o.out.at(i, j)), i == 30);
            ASSERT_EQ(std::isinf(o.out.at(i, j)), i == 29);
          }
        }
      }
    }
  }
}

TEST_F(Matmul, EveryTailOfBf16AgreesWithExactSums) {
  for (cpu::DotIsa isa : test::runnable_dot_isas()) {
    cpu::force_dot_isa(isa);
    for (Pass pass : kPasses) {
      const DType out = pass == Pass::BackwardWeight ? DType::F32 : DType::BF16;
      for (int64_t n = 1; n <= 34; ++n) {
        check_case({pass, n, 35 - n, 20, DType::BF16, out}, rng_);
        check_case({pass, 13, 20, n, DType::BF16, out, Accumulate::Yes}, rng_);
        check_case({pass, 20, n, 13, DType::BF16, out}, rng_);
      }
      // Each extent in turn exceeds what a block of rows, one of columns and two parts of k hold.
      check_case({pass, 1031, 13, 20, DType::BF16, out}, rng_);
      check_case({pass, 20, 1031, 13, DType::BF16, out, Accumulate::Yes}, rng_);
      check_case({pass, 13, 20, 1031, DType::BF16, out, Accumulate::Yes}, rng_);
    }
  }
}

// The two sums of BF16 differ in their order alone.
TEST_F(Matmul, Bf16InstructionsChangeOnlyTheOrderOfSums) {
  if (!cpu::can_run(cpu::DotIsa::Avx512Bf16)) return;
  const Case c{Pass::Forward, 40, 50, 600, DType::BF16};
  const Operands inputs(c, rng_);
  Operands pairs = inputs, widened = inputs;
  cpu::force_dot_isa(cpu::DotIsa::Avx512Bf16);
  run(c, pairs);
  cpu::force_dot_isa(cpu::DotIsa::Avx512);
  run(c, widened);
  EXPECT_FALSE(pairs.out.bytes() == widened.out.bytes());  // so the instructions are in use
  expect_close(c, inputs, pairs);
  expect_close(c, inputs, widened);
}

TEST_F(Matmul, WrongOperandsAreNamed) {
  ThreadPool pool(1);
  Context ctx;
  ctx.pool = &pool;
  Matrix x(4, 5, DType::F32, rng_), w(6, 5, DType::F32, rng_), y(4, 6, DType::F32, rng_);
  Matrix wide(4, 6, DType::F64, rng_), narrow(6, 5, DType::BF16, rng_);
  EXPECT_THROW(linear_forward(ctx, x.tensor(), y.tensor(), y.tensor()), Error);
  EXPECT_THROW(linear_forward(ctx, x.tensor(), w.tensor(), w.tensor()), Error);
  EXPECT_THROW(linear_forward(ctx, x.tensor(), w.tensor(), wide.tensor()), Error);
  EXPECT_THROW(linear_forward(ctx, x.tensor(), w.tensor(), y.tensor(), wide.tensor()), Error);
  EXPECT_THROW(linear_forward(ctx, x.tensor(), w.tensor(), y.tensor(), x.tensor()), Error);
  EXPECT_THROW(linear_backward_input(ctx, x.tensor(), w.tensor(), y.tensor(), Accumulate::No),
               Error);
  // A gradient in BF16 would lose what accumulation needs.
  EXPECT_THROW(linear_backward_weight(ctx, y.tensor(), x.tensor(), narrow.tensor(), Accumulate::No),
               Error);
}

}  // namespace
}  // namespace ingot
