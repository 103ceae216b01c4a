// The GGUF format, version 3: metadata, a list of tensors, their data.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "core/tensor/q8_0.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

namespace ingot {

// Values as in the file.
enum class GgufType : uint32_t { F32 = 0, F16 = 1, Q8_0 = 8, BF16 = 30 };

// "f32", "bf16", "f16" or "q8_0"; throws ErrorCode::Usage for others.
GgufType parse_gguf_type(std::string_view name);

// Metadata in the file's order.
class GgufMetadata {
 public:
  void add(std::string_view key, std::string_view text);
  void add_u32(std::string_view key, int64_t value);
  void add_f32(std::string_view key, double value);
  void add_flag(std::string_view key, bool value);
  void add(std::string_view key, const std::vector<std::string>& texts);
  void add(std::string_view key, const std::vector<float>& values);
  void add(std::string_view key, const std::vector<int32_t>& values);
  void add_bytes(std::string_view key, std::string_view bytes);

  uint64_t count() const { return count_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void begin(std::string_view key, uint32_t type);
  void begin_list(std::string_view key, uint32_t type, size_t size);
  std::string bytes_;
  uint64_t count_ = 0;
};

struct GgufTensor {
  std::string name;
  Shape shape;  // row-major, as ours; the file stores extents in reverse order
  GgufType type = GgufType::F32;
};

inline constexpr int64_t kGgufBlock = kQ8Block;  // elements of a row that share a scale in Q8_0
inline constexpr int64_t kGgufQuantizationVersion = 2;

int64_t gguf_bytes(const GgufTensor& tensor);

// Writes and syncs the file. data(i, put) passes the F32 elements of the i-th tensor in pieces of
// whole blocks; they are converted here. Throws ErrorCode::Data naming a tensor with a value too
// large for the type.
void write_gguf(
    Storage& storage, const std::string& path, const GgufMetadata& metadata,
    const std::vector<GgufTensor>& tensors,
    const std::function<void(size_t, const std::function<void(std::span<const float>)>&)>& data);

}  // namespace ingot
