#include "train/step/mfu.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

const PeakFlops kH200 = {989.4e12, "data sheet, dense bf16", 719e12, "bf16"};

TEST(Mfu, IsOfTheDataSheetAndOfWhatWasMeasuredBothNamed) {
  EXPECT_EQ(mfu_text(436.4e12, kH200), "44.1 % (60.7 % of measured)");
  EXPECT_EQ(text_of(kH200), "989 TFLOP/s (data sheet, dense bf16), 719 TFLOP/s measured in bf16");
}

TEST(Mfu, WithoutADataSheetIsOfWhatWasMeasured) {
  const PeakFlops cpu = {0, "", 1e11, "f32"};
  EXPECT_EQ(mfu_text(5e10, cpu), "50.0 % of measured");
  EXPECT_EQ(text_of(cpu), "100 GFLOP/s measured in f32");
  EXPECT_EQ(mfu_text(5e10, {}), "");
}

TEST(Mfu, AboveTheDataSheetIsDoubted) {
  EXPECT_NE(mfu_text(1100e12, kH200).find("(above 100 %: is the peak right, 989 TFLOP/s"),
            std::string::npos);
  EXPECT_EQ(mfu_text(900e12, kH200).find("above"), std::string::npos);  // of measured it may be
}

TEST(Mfu, AboveWhatWasMeasuredIsDoubtedWhereThereIsNoDataSheet) {
  EXPECT_EQ(mfu_text(2e11, {0, "", 1e11, "fp32"}),
            "200.0 % of measured (above 100 %: the peak was measured in fp32)");
}

TEST(Mfu, OfABusyMachineIsDoubted) {
  PeakFlops peak = {0, "", 1e11, "fp32", 0.42};
  EXPECT_TRUE(peak.is_doubtful());
  EXPECT_EQ(mfu_text(5e10, peak), "50.0 % of measured (doubtful: busy machine)");
  EXPECT_EQ(text_of(peak),
            "100 GFLOP/s measured in fp32 (doubtful: other processes had 42 % of its cores' time "
            "meanwhile)");
  peak.busy = 0.01;
  EXPECT_FALSE(peak.is_doubtful());
  EXPECT_EQ(mfu_text(5e10, peak), "50.0 % of measured");
}

}  // namespace
}  // namespace ingot
