// How files on other machines are reached.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ingot {

struct RemoteSettings {
  std::string cache_folder;  // caches files here; empty: streams without caching
  std::string hf_endpoint = "https://huggingface.co";
  std::string hf_token;          // empty: only public repositories
  bool s3_anonymous = false;     // without credentials; else the AWS library's
  std::string s3_endpoint;       // "http://localhost:9000"; empty: Amazon's
  std::string s3_region;         // empty: determined from the bucket
  int64_t max_attempts = 6;      // attempts without progress before a transfer fails
  int64_t first_delay_ms = 500;  // before the second attempt; doubled each time
  int64_t stall_seconds = 30;    // a transfer without data for this long is broken
};

// As the environment says: HF_TOKEN and HF_ENDPOINT, AWS_ENDPOINT_URL and AWS_REGION. S3 is asked
// without credentials if there are none (AWS_ACCESS_KEY_ID, AWS_PROFILE, …). `variable` returns the
// value of a variable, or null.
RemoteSettings remote_settings(const std::function<const char*(const char* name)>& variable,
                               const std::string& cache_folder);

}  // namespace ingot
