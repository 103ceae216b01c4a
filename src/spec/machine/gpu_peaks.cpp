#include "spec/machine/gpu_peaks.h"

#include <array>
#include <cmath>

#include "core/error/error.h"

namespace ingot {
namespace {

// TFLOP/s with accumulation in F32. 0: not supported.
struct GpuPeaks {
  std::string_view name;
  double bf16;  // and fp16
  double tf32, fp8, fp32;
};

// From NVIDIA's data sheet of each GPU, and for GeForce from the appendices of its Ampere GA102,
// Ada and Blackwell architecture papers. Where a sheet prints only the figure with sparsity, half
// of it. A name must match whole: "RTX 4090 Laptop GPU" is another GPU.
constexpr std::array kPeaks = {
    GpuPeaks{"NVIDIA A100-SXM4-40GB", 312, 156, 0, 19.5},
    GpuPeaks{"NVIDIA A100-SXM4-80GB", 312, 156, 0, 19.5},
    GpuPeaks{"NVIDIA A100-PCIE-40GB", 312, 156, 0, 19.5},
    GpuPeaks{"NVIDIA A100 80GB PCIe", 312, 156, 0, 19.5},
    GpuPeaks{"NVIDIA A40", 149.7, 74.8, 0, 37.4},
    GpuPeaks{"NVIDIA A30", 165, 82, 0, 10.3},
    GpuPeaks{"NVIDIA A10", 125, 62.5, 0, 31.2},
    GpuPeaks{"NVIDIA RTX A6000", 154.8, 77.4, 0, 38.7},
    GpuPeaks{"NVIDIA H100 80GB HBM3", 989.4, 494.7, 1978.9, 66.9},
    GpuPeaks{"NVIDIA H100 PCIe", 756.5, 378, 1513, 51.2},
    GpuPeaks{"NVIDIA H100 NVL", 835.5, 417.5, 1670.5, 60},
    GpuPeaks{"NVIDIA GH200 480GB", 989.4, 494.7, 1978.9, 66.9},
    GpuPeaks{"NVIDIA H200", 989.4, 494.7, 1978.9, 66.9},
    GpuPeaks{"NVIDIA H200 NVL", 835.5, 417.5, 1670.5, 60},
    GpuPeaks{"NVIDIA B200", 2250, 1125, 4500, 75},
    GpuPeaks{"NVIDIA GB200", 2500, 1250, 5000, 80},
    GpuPeaks{"NVIDIA L4", 121, 60, 242.5, 30.3},
    GpuPeaks{"NVIDIA L40", 181, 90.5, 362, 90.5},
    GpuPeaks{"NVIDIA L40S", 362, 183, 733, 91.6},
    GpuPeaks{"NVIDIA RTX 6000 Ada Generation", 364.2, 182.1, 728.5, 91.1},
    GpuPeaks{"NVIDIA GeForce RTX 3090", 71.2, 35.6, 0, 35.6},
    GpuPeaks{"NVIDIA GeForce RTX 3090 Ti", 80, 40, 0, 40},
    GpuPeaks{"NVIDIA GeForce RTX 4090", 165.2, 82.6, 330.3, 82.6},
    GpuPeaks{"NVIDIA GeForce RTX 5090", 209.5, 104.8, 419, 104.8},
};

double dense_tflops(const GpuPeaks& gpu, Precision precision) {
  switch (precision) {
    case Precision::Fp64:
      return 0;  // no run computes so on a GPU
    case Precision::Fp32:
      return gpu.fp32;
    case Precision::Tf32:
      return gpu.tf32;
    case Precision::Fp8:
      return gpu.fp8;
    case Precision::Auto:
    case Precision::Bf16:
    case Precision::Fp16:
      return gpu.bf16;
  }
  throw Error(ErrorCode::Internal, "unknown precision");
}

// Figures are quoted rounded: 989, 989.4, 990.
bool near(double a, double b) {
  return b > 0 && std::abs(a - b) < 0.005 * b;
}

}  // namespace

double datasheet_peak_flops(std::string_view gpu, Precision precision) {
  for (const GpuPeaks& peaks : kPeaks)
    if (peaks.name == gpu) return 1e12 * dense_tflops(peaks, precision);
  return 0.0;
}

void check_dense_peak(double tflops, std::string_view gpu, Precision precision) {
  const bool known = datasheet_peak_flops(gpu, Precision::Fp32) > 0;
  const GpuPeaks* sparse = nullptr;
  for (const GpuPeaks& peaks : kPeaks) {
    if (known && peaks.name != gpu) continue;
    const double dense = dense_tflops(peaks, precision);
    if (near(tflops, dense)) return;
    // FP32 has no sparsity.
    if (precision != Precision::Fp32 && near(tflops, 2 * dense)) sparse = &peaks;
  }
  if (sparse == nullptr) return;
  throw Error(
      ErrorCode::Config,
      fmt::format("system.peak_tflops: {} TFLOP/s is the {}'s figure with sparsity, which training "
                  "does not use; its dense peak in {} is {}: leave system.peak_tflops out, or "
                  "--set system.peak_tflops={}",
                  tflops, sparse->name,
                  name_of(precision == Precision::Auto ? Precision::Bf16 : precision),
                  dense_tflops(*sparse, precision), dense_tflops(*sparse, precision)));
}

}  // namespace ingot
