#include "ops/update/muon.h"

#include <algorithm>

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/muon.h"

namespace ingot {
namespace {

// A run is a whole number of rounds of a GPU's thread block (see ops/cuda/muon.cu) and there are at
// most so many that one block adds them up at once.
constexpr int64_t kRound = 4096;
constexpr int64_t kMaxPartials = 1024;

void check_operand(const char* op, const char* name, const Tensor& tensor, const Shape& shape) {
  check_float(op, name, tensor);
  check_shape(op, name, tensor, shape);
  check_contiguous(op, name, tensor);
}

void check_acc(const char* op, const char* name, const Tensor& tensor, const Shape& shape,
               const Tensor& like) {
  check_operand(op, name, tensor, shape);
  check_dtype(op, name, tensor, accumulation_dtype(like.dtype));
}

// A direction goes with wide states: F32 or BF16 with F32, F64 with F64.
void check_direction(const char* op, const char* name, const Tensor& tensor, const Tensor& state) {
  check_operand(op, name, tensor, state.shape);
  check_dtype(op, "state", state, accumulation_dtype(tensor.dtype));
}

}  // namespace

int64_t muon_partial_elements(int64_t n) {
  const int64_t rounds = (n + kMaxPartials * kRound - 1) / (kMaxPartials * kRound);
  return std::max<int64_t>(1, rounds) * kRound;
}

int64_t muon_num_partials(int64_t n) {
  const int64_t each = muon_partial_elements(n);
  return (n + each - 1) / each;
}

void muon_momentum(Context& ctx, double beta, const UpdateScalars& scalars, const Tensor& grad,
                   const Tensor& m, const Tensor& u, const Tensor& squares) {
  constexpr const char* kOp = "muon_momentum";
  check_update_scalars(kOp, ctx, scalars);
  check_rank(kOp, "m", m, 1);
  check_acc(kOp, "m", m, m.shape, m);
  check_acc(kOp, "grad", grad, m.shape, m);
  if (squares.defined()) check_acc(kOp, "squares", squares, {muon_num_partials(m.numel())}, m);
  check_direction(kOp, "u", u, m);
  INGOT_DISPATCH(m, muon_momentum, ctx, beta, scalars, grad, m, u, squares);
}

void muon_squares(Context& ctx, const Tensor& u, const Tensor& squares) {
  constexpr const char* kOp = "muon_squares";
  check_rank(kOp, "u", u, 1);
  check_operand(kOp, "u", u, u.shape);
  check_acc(kOp, "squares", squares, {muon_num_partials(u.numel())}, u);
  INGOT_DISPATCH(u, muon_squares, ctx, u, squares);
}

void muon_normalize(Context& ctx, const Tensor& squares, double margin, const Tensor& u) {
  constexpr const char* kOp = "muon_normalize";
  check_operand(kOp, "u", u, u.shape);
  check_acc(kOp, "squares", squares, {muon_num_partials(u.numel())}, u);
  INGOT_DISPATCH(u, muon_normalize, ctx, squares, margin, u);
}

void muon_polynomial(Context& ctx, const MuonPolynomial& p, const Tensor& gram,
                     const Tensor& square, const Tensor& out) {
  constexpr const char* kOp = "muon_polynomial";
  check_rank(kOp, "out", out, 2);
  const Shape shape = {out.shape[0], out.shape[0]};
  for (const Tensor* tensor : {&gram, &square, &out}) {
    check_operand(kOp, "operand", *tensor, shape);
    check_dtype(kOp, "operand", *tensor, out.dtype);
  }
  INGOT_DISPATCH(out, muon_polynomial, ctx, p, gram, square, out);
}

void muon_apply(Context& ctx, double keep, double rate, const UpdateScalars& scalars,
                const Tensor& x, const Tensor& master) {
  constexpr const char* kOp = "muon_apply";
  check_update_scalars(kOp, ctx, scalars);
  check_rank(kOp, "master", master, 1);
  check_acc(kOp, "master", master, master.shape, master);
  check_direction(kOp, "x", x, master);
  INGOT_DISPATCH(master, muon_apply, ctx, keep, rate, scalars, x, master);
}

}  // namespace ingot
