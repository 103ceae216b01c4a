// Model FLOPs as a share of what the devices of a run could do: by their data sheet, and measured.
#pragma once

#include <string>

namespace ingot {

// FLOP/s of all devices of a run together; 0: not known.
struct PeakFlops {
  double datasheet = 0.0;        // dense, in the run's precision
  std::string datasheet_source;  // "data sheet, dense bf16", "system.peak_tflops"
  double measured = 0.0;         // what GEMMs reach here
  std::string measured_dtype;    // "bf16"
  double busy = 0.0;             // share of the measurement for which others had the cores

  // The machine was not quiet enough to tell.
  bool is_doubtful() const { return measured > 0 && busy > 0.05; }
};

// "989 TFLOP/s (data sheet, dense bf16), 719 TFLOP/s measured in bf16", and why that is doubtful;
// empty if no peak is known.
std::string text_of(const PeakFlops& peak);

// "44.1 % (60.7 % of measured)", "60.7 % of measured". Says so if it is above 100 % of the data
// sheet, or if the measured peak is doubtful. Empty if no peak is known.
std::string mfu_text(double flops_per_second, const PeakFlops& peak);

}  // namespace ingot
