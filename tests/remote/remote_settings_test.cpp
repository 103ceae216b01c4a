#include "remote/remote_settings.h"

#include <gtest/gtest.h>

#include <map>

namespace ingot {
namespace {

RemoteSettings with(const std::map<std::string, std::string>& environment) {
  return remote_settings(
      [&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      "cache");
}

TEST(RemoteSettings, AnEmptyEnvironmentMeansPublicFiles) {
  const RemoteSettings settings = with({{"HF_TOKEN", ""}, {"HF_ENDPOINT", ""}});
  EXPECT_EQ(settings.cache_folder, "cache");
  EXPECT_EQ(settings.hf_token, "");
  EXPECT_EQ(settings.hf_endpoint, "https://huggingface.co");
  EXPECT_EQ(settings.s3_endpoint, "");
  EXPECT_TRUE(settings.s3_anonymous);
}

TEST(RemoteSettings, OfTheHubComeFromItsVariables) {
  const RemoteSettings settings =
      with({{"HF_TOKEN", "secret"}, {"HF_ENDPOINT", "http://localhost:8000//"}});
  EXPECT_EQ(settings.hf_token, "secret");
  EXPECT_EQ(settings.hf_endpoint, "http://localhost:8000");
}

TEST(RemoteSettings, OfS3TheMoreExactVariableCounts) {
  EXPECT_EQ(with({{"AWS_ENDPOINT_URL", "a"}}).s3_endpoint, "a");
  EXPECT_EQ(with({{"AWS_ENDPOINT_URL", "a"}, {"AWS_ENDPOINT_URL_S3", "b"}}).s3_endpoint, "b");
  EXPECT_EQ(with({{"AWS_DEFAULT_REGION", "x"}}).s3_region, "x");
  EXPECT_EQ(with({{"AWS_DEFAULT_REGION", "x"}, {"AWS_REGION", "y"}}).s3_region, "y");
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ROLE_ARN"})
    EXPECT_FALSE(with({{name, "x"}}).s3_anonymous) << name;
}

}  // namespace
}  // namespace ingot
