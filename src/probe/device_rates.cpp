#include "probe/device_rates.h"

#include "core/device/cuda_backend.h"
#include "ops/fp8.h"
#include "ops/matmul.h"
#include "probe/measure.h"
#include "probe/operands.h"
#include "probe/timing.h"

namespace ingot {
namespace {

constexpr int kRepeats = 3;

double rate_of(int64_t side, double seconds) {
  const auto n = static_cast<double>(side);
  return 2.0 * n * n * n / seconds;
}

// Kernels of f64 are made to compare with, not for speed.
int64_t side_on(const Context& ctx, DType dtype) {
  if (ctx.device.kind == DeviceKind::Cuda) return 8192;
  return dtype == DType::F64 ? 256 : 1024;
}

double gemm_rate(const Context& like, DType dtype, bool tf32 = false) {
  const int64_t side = side_on(like, dtype);
  Operands operands(like);
  Context ctx = operands.with_workspace(matmul_workspace_bytes(like.facts));
  ctx.tf32 = tf32;
  const auto matrix = [&] {  // (side, side)
    return dtype == DType::F64 ? operands.zeros(dtype, {side, side})
                               : operands.random(dtype, {side, side});
  };
  const Tensor x = matrix(), w = matrix(), y = operands.zeros(dtype, {side, side});
  return rate_of(side, best_seconds(ctx, kRepeats, [&] { linear_forward(ctx, x, w, y); }));
}

double fp8_rate(const Context& like) {
  const int64_t side = side_on(like, DType::F8E4M3);
  Operands operands(like);
  Context ctx = operands.with_workspace(matmul_workspace_bytes(like.facts));
  const auto rounded = [&] {
    const auto scalar = [&] { return operands.zeros(DType::F32, {1}); };
    const Quantized q{
        operands.zeros(DType::F8E4M3, {side, side}), {}, scalar(), scalar(), scalar()};
    quantize_by_own_scale(ctx, operands.random(DType::BF16, {side, side}), q);
    return q;
  };
  const Quantized x = rounded(), w = rounded();
  const Tensor y = operands.zeros(DType::BF16, {side, side});
  return rate_of(side, best_seconds(ctx, kRepeats, [&] { linear_forward(ctx, x, w, y); }));
}

void host_copies(Context& ctx, DeviceRates& rates) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  Operands operands(ctx);
  const Tensor device = operands.zeros(DType::U8, {kBytes});
  const Arena pinned(ctx.device, kBytes, MemorySpace::Pinned);
  const Tensor host = pinned.place(0, DType::U8, {kBytes});
  const auto rate = [&](const Tensor& from, const Tensor& to) {
    return static_cast<double>(kBytes) /
           best_seconds(ctx, kRepeats, [&] { copy_bytes(*ctx.cuda, to.data, from.data, kBytes); });
  };
  rates.to_device = rate(host, device);
  rates.from_device = rate(device, host);
}

}  // namespace

DeviceRates measure_device(Context& ctx) {
  DeviceRates rates;
  const bool on_gpu = ctx.device.kind == DeviceKind::Cuda;
  rates.memory_copy = measure_copy_bandwidth(ctx);
  rates.gemm_f32 = gemm_rate(ctx, DType::F32);
  rates.gemm_bf16 = gemm_rate(ctx, DType::BF16);
  if (!on_gpu) {
    rates.gemm_f64 = gemm_rate(ctx, DType::F64);
    return rates;
  }
  rates.gemm_tf32 = gemm_rate(ctx, DType::F32, /*tf32=*/true);
  if (ctx.facts.major > 8 || (ctx.facts.major == 8 && ctx.facts.minor >= 9))
    rates.gemm_fp8 = fp8_rate(ctx);
  host_copies(ctx, rates);
  return rates;
}

}  // namespace ingot
