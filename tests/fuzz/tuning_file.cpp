// The file of tuned matrix products on arbitrary bytes: what is taken is written back equal, or
// Error. Input: one byte that says whether the lines get their header and checksum here (random
// bytes never have them), then the file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error/error.h"
#include "ops/cuda/gemm/tuning_cache.h"

namespace {

constexpr uint64_t kVersion = 130000;

// As the format has it: a header, the products, «end COUNT CHECKSUM» (FNV-1a).
std::string framed(const std::string& lines) {
  std::string text = fmt::format("ingot-gemm-tuning 1 cublasLt {}\n", kVersion) + lines;
  if (text.back() != '\n') text += '\n';
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  const auto count = std::count(text.begin(), text.end(), '\n') - 1;
  return text + fmt::format("end {} {:016x}\n", count, hash);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    const auto gemms = ingot::cuda::parse_tuned(data[0] & 1 ? framed(bytes) : bytes, kVersion);
    const std::string written = ingot::cuda::format_tuned(gemms, kVersion);
    if (ingot::cuda::format_tuned(ingot::cuda::parse_tuned(written, kVersion), kVersion) != written)
      abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
