#include "cli/remote.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/start/machine.h"
#include "core/storage/storage.h"

namespace ingot::cli {
namespace {

std::string environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

bool has_aws_credentials() {
  constexpr std::array kNames{"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ROLE_ARN",
                              "AWS_WEB_IDENTITY_TOKEN_FILE",
                              "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [](const char* name) { return !environment(name).empty(); });
}

}  // namespace

RemoteOptions::RemoteOptions() {
  if (const std::string folder = default_cache_dir(); !folder.empty()) {
    cache_folder = join_path(folder, "files");
  }
}

void RemoteOptions::add_to(Command& command) {
  command
      .add_option("--cache", cache_folder,
                  "folder that keeps files from http(s):// and hf://; \"\" keeps none")
      ->capture_default_str();
}

RemoteSettings RemoteOptions::settings() const {
  RemoteSettings settings;
  settings.cache_folder = cache_folder;
  settings.hf_token = environment("HF_TOKEN");
  settings.hf_endpoint = environment("HF_ENDPOINT", settings.hf_endpoint);
  while (settings.hf_endpoint.ends_with('/')) settings.hf_endpoint.pop_back();
  settings.s3_endpoint = environment("AWS_ENDPOINT_URL_S3", environment("AWS_ENDPOINT_URL"));
  settings.s3_region = environment("AWS_REGION", environment("AWS_DEFAULT_REGION"));
  settings.s3_anonymous = !has_aws_credentials();
  return settings;
}

}  // namespace ingot::cli
