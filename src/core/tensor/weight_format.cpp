#include "core/tensor/weight_format.h"

#include "core/error/error.h"
#include "core/tensor/q8_0.h"

namespace ingot {

std::string_view name_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::F32:
      return "f32";
    case WeightFormat::BF16:
      return "bf16";
    case WeightFormat::Q8_0:
      return "q8_0";
  }
  return "unknown";
}

std::optional<WeightFormat> parse_weight_format(std::string_view name) {
  for (const WeightFormat format : kAllWeightFormats)
    if (name_of(format) == name) return format;
  return std::nullopt;
}

int64_t packed_bytes(WeightFormat format, int64_t rows, int64_t cols) {
  const int64_t padded = (rows + kPanelRows - 1) / kPanelRows * kPanelRows;
  switch (format) {
    case WeightFormat::F32:
      return padded * cols * 4;
    case WeightFormat::BF16:
      return padded * ((cols + 1) / 2) * 4;  // in pairs of columns
    case WeightFormat::Q8_0:
      break;
  }
  check(cols % kQ8Block == 0, ErrorCode::Config,
        "q8_0 weights need rows of whole blocks: expected a multiple of {} columns, got {}; use "
        "bf16 or f32",
        kQ8Block, cols);
  return padded * (cols / kQ8Block) * (kQ8Block + 2);
}

}  // namespace ingot
