#include "remote/remote_settings.h"

#include <algorithm>
#include <array>

namespace ingot {

RemoteSettings remote_settings(const std::function<const char*(const char* name)>& variable,
                               const std::string& cache_folder) {
  const auto value = [&](const char* name, const std::string& otherwise = "") {
    const char* text = variable(name);
    return text != nullptr && *text != '\0' ? std::string(text) : otherwise;
  };
  constexpr std::array kCredentials{"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ROLE_ARN",
                                    "AWS_WEB_IDENTITY_TOKEN_FILE",
                                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"};
  RemoteSettings settings;
  settings.cache_folder = cache_folder;
  settings.hf_token = value("HF_TOKEN");
  settings.hf_endpoint = value("HF_ENDPOINT", settings.hf_endpoint);
  while (settings.hf_endpoint.ends_with('/')) settings.hf_endpoint.pop_back();
  settings.s3_endpoint = value("AWS_ENDPOINT_URL_S3", value("AWS_ENDPOINT_URL"));
  settings.s3_region = value("AWS_REGION", value("AWS_DEFAULT_REGION"));
  settings.s3_anonymous =
      std::ranges::all_of(kCredentials, [&](const char* name) { return value(name).empty(); });
  return settings;
}

}  // namespace ingot
