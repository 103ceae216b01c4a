#include "spec/machine/gpu_peaks.h"

#include <gtest/gtest.h>

#include "core/device/device_facts.h"
#include "core/error/error.h"

namespace ingot {
namespace {

TEST(GpuPeaks, ThePrecisionDecidesTheColumn) {
  EXPECT_DOUBLE_EQ(datasheet_peak_flops("NVIDIA H200", Precision::Bf16), 989.4e12);
  EXPECT_DOUBLE_EQ(datasheet_peak_flops("NVIDIA H200", Precision::Fp16), 989.4e12);
  EXPECT_DOUBLE_EQ(datasheet_peak_flops("NVIDIA H200", Precision::Tf32), 494.7e12);
  EXPECT_DOUBLE_EQ(datasheet_peak_flops("NVIDIA H200", Precision::Fp8), 1978.9e12);
  EXPECT_DOUBLE_EQ(datasheet_peak_flops("NVIDIA H200", Precision::Fp32), 66.9e12);
}

TEST(GpuPeaks, EveryKnownGpuHasThem) {
  ASSERT_FALSE(known_gpu_names().empty());
  for (const std::string& name : known_gpu_names())
    EXPECT_GT(datasheet_peak_flops(known_gpu(name)->name, Precision::Bf16), 0.0) << name;
}

TEST(GpuPeaks, GpusOfOtherNamesAreNotGuessed) {
  EXPECT_EQ(datasheet_peak_flops("NVIDIA H200 NVL", Precision::Bf16), 835.5e12);
  EXPECT_EQ(datasheet_peak_flops("NVIDIA GeForce RTX 4090 Laptop GPU", Precision::Bf16), 0.0);
  EXPECT_EQ(datasheet_peak_flops("NVIDIA A100-SXM4-80GB MIG 3g.40gb", Precision::Bf16), 0.0);
  EXPECT_EQ(datasheet_peak_flops("NVIDIA A40", Precision::Fp8), 0.0);
  EXPECT_EQ(datasheet_peak_flops("", Precision::Fp32), 0.0);
}

TEST(GpuPeaks, AFigureWithSparsityIsRefusedForTheGpuItIsOf) {
  const auto refused = [](double tflops, const char* gpu, Precision precision) {
    try {
      check_dense_peak(tflops, gpu, precision);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused(624, "NVIDIA A100-SXM4-80GB", Precision::Bf16));
  EXPECT_FALSE(refused(312, "NVIDIA A100-SXM4-80GB", Precision::Bf16));
  // 362 is the L40's figure with sparsity and the L40S's without.
  EXPECT_TRUE(refused(362, "NVIDIA L40", Precision::Bf16));
  EXPECT_FALSE(refused(362, "NVIDIA L40S", Precision::Bf16));
  EXPECT_FALSE(refused(362, "", Precision::Bf16));
  EXPECT_TRUE(refused(660.6, "unheard of", Precision::Fp8));
  EXPECT_FALSE(refused(500, "NVIDIA H200", Precision::Bf16));
}

}  // namespace
}  // namespace ingot
