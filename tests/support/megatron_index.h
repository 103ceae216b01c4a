// Megatron's .idx file, written from its description.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::testing_support {

// `width`: bytes per token, which the pointers are made of.
inline std::string megatron_index(uint8_t dtype_code, int64_t width,
                                  const std::vector<int32_t>& lengths,
                                  const std::vector<int64_t>& documents) {
  std::string out("MMIDIDX\0\0", 9);
  const auto put = [&](const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  put(uint64_t{1});
  put(dtype_code);
  put(static_cast<uint64_t>(lengths.size()));
  put(static_cast<uint64_t>(documents.size()));
  for (const int32_t length : lengths) put(length);
  int64_t pointer = 0;
  for (const int32_t length : lengths) {
    put(pointer);
    pointer += length * width;
  }
  for (const int64_t first : documents) put(first);
  return out;
}

}  // namespace ingot::testing_support
