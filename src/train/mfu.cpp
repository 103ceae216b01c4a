#include "train/mfu.h"

#include <fmt/ranges.h>

#include <vector>

#include "core/text/format.h"

namespace ingot {
namespace {

std::string rate_text(double flops) {
  return flops < 1e13 ? fmt::format("{:.0f} GFLOP/s", flops / 1e9)
                      : fmt::format("{:.0f} TFLOP/s", flops / 1e12);
}

}  // namespace

std::string text_of(const PeakFlops& peak) {
  std::vector<std::string> parts;
  if (peak.datasheet > 0)
    parts.push_back(fmt::format("{} ({})", rate_text(peak.datasheet), peak.datasheet_source));
  if (peak.measured > 0)
    parts.push_back(
        fmt::format("{} measured in {}", rate_text(peak.measured), peak.measured_dtype));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string mfu_text(double flops_per_second, const PeakFlops& peak) {
  const std::string of_measured =
      peak.measured > 0 ? format_percent(flops_per_second / peak.measured) + " of measured" : "";
  if (peak.datasheet == 0) return of_measured;
  const double share = flops_per_second / peak.datasheet;
  std::string text = format_percent(share);
  if (!of_measured.empty()) text += fmt::format(" ({})", of_measured);
  if (share > 1)
    text += fmt::format(" (above 100 %: is the peak right, {} by {}? set system.peak_tflops)",
                        rate_text(peak.datasheet), peak.datasheet_source);
  return text;
}

}  // namespace ingot
