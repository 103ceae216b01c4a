#include "train/step/mfu.h"

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
    parts.push_back(fmt::format(
        "{} measured in {}{}", rate_text(peak.measured), peak.measured_dtype,
        peak.is_doubtful()
            ? fmt::format(" (doubtful: other processes had {} of its cores' time meanwhile)",
                          format_percent(peak.busy, 0))
            : ""));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string mfu_text(double flops_per_second, const PeakFlops& peak) {
  const std::string of_measured =
      peak.measured > 0 ? format_percent(flops_per_second / peak.measured) + " of measured" : "";
  std::string doubts = peak.is_doubtful() ? " (doubtful: busy machine)" : "";
  if (peak.datasheet == 0) {
    if (peak.measured > 0 && flops_per_second > peak.measured)
      doubts += fmt::format(" (above 100 %: the peak was measured in {})", peak.measured_dtype);
    return of_measured + doubts;
  }
  const double share = flops_per_second / peak.datasheet;
  std::string text = format_percent(share);
  if (!of_measured.empty()) text += fmt::format(" ({})", of_measured) + doubts;
  if (share > 1)
    text += fmt::format(" (above 100 %: is the peak right, {} by {}? set system.peak_tflops)",
                        rate_text(peak.datasheet), peak.datasheet_source);
  return text;
}

}  // namespace ingot
