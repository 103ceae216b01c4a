#include "core/device/device_facts.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

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
  for (const std::string& name : known_gpu_names())
    EXPECT_EQ(known_gpu(known_gpu(name)->name), known_gpu(name)) << name;
}

TEST(DeviceFacts, AGpuIsKnownByMoreOfWhatItIs) {
  const std::pair<const char*, const char*> cases[] = {
      {"a100-80gb", "a100"},           {"A100-SXM4-80GB", "a100"}, {"a100_sxm", "a100"},
      {"a100 40GB", "a100-40gb"},      {"h100-sxm", "h100"},       {"h100-sxm5-80gb", "h100"},
      {"h100-80gb-pcie", "h100-pcie"}, {"RTX 4090", "rtx4090"},    {"4090", "rtx4090"},
      {"geforce-rtx-3090", "rtx3090"}, {"rtx-a6000", "a6000"}};
  for (const auto& [name, meant] : cases) EXPECT_EQ(known_gpu(name), known_gpu(meant)) << name;
  // Other parts, whose memory or cores differ.
  for (const char* other :
       {"a100-80gb-40gb", "a100-pcie", "h100-nvl", "rtx4090-laptop", "h100-40gb"})
    EXPECT_FALSE(known_gpu(other)) << other;
}

TEST(DeviceFacts, AMistypedGpuIsNearTheOneOfItsMemory) {
  EXPECT_EQ(nearest_gpu_name("h20"), "h200");
  EXPECT_EQ(nearest_gpu_name("a100-80g"), "a100-80gb");
  EXPECT_EQ(nearest_gpu_name("A100-40G"), "a100-40gb");
  EXPECT_EQ(nearest_gpu_name("h100-sxm6"), "h100-sxm");
  EXPECT_EQ(nearest_gpu_name("potato"), "");
}

}  // namespace
}  // namespace ingot
