#include "core/device_facts.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace ingot {
namespace {

TEST(DeviceFacts, TheCpuIsNothingButACpu) {
  EXPECT_EQ(device_facts(Device::cpu()), DeviceFacts{});
}

TEST(DeviceFacts, AGpuThatIsNotThereIsMissing) {
  try {
    device_facts(Device::cuda(99));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Missing);
  }
}

TEST(DeviceFacts, AGpuIsKnownByEitherOfItsNames) {
  const auto h200 = known_gpu("h200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->kind, DeviceKind::Cuda);
  EXPECT_EQ(h200->major, 9);
  EXPECT_EQ(h200->num_sms, 132);
  EXPECT_EQ(h200->memory_bytes, 150'754'820'096);
  EXPECT_EQ(known_gpu("NVIDIA H200"), h200);
  EXPECT_FALSE(known_gpu("h2000"));
  EXPECT_FALSE(known_gpu(""));
}

}  // namespace
}  // namespace ingot
