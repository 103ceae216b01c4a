// How a decoder's matrices are stored for ops/packed_linear.h, and how many bytes that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

enum class WeightFormat : uint8_t { F32, BF16, Q8_0 };
inline constexpr WeightFormat kAllWeightFormats[] = {WeightFormat::F32, WeightFormat::BF16,
                                                     WeightFormat::Q8_0};

std::string_view name_of(WeightFormat format);  // "f32", "bf16", "q8_0"
std::optional<WeightFormat> parse_weight_format(std::string_view name);

// Rows are packed in panels of this many. The last panel is padded.
inline constexpr int64_t kPanelRows = 32;

// Bytes of a packed matrix (rows, cols). Throws ErrorCode::Config for Q8_0 if cols is not a
// multiple of 32.
int64_t packed_bytes(WeightFormat format, int64_t rows, int64_t cols);

}  // namespace ingot
