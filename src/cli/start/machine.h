// The device that a command computes on, from flags or a run's settings.
#pragma once

#include <memory>
#include <string>

#include "cli/frame/command.h"
#include "core/device/compute_device.h"
#include "plan/resolved_run.h"
#include "train/step/mfu.h"

namespace ingot::cli {

// --device and --threads.
struct DeviceOptions {
  std::string device = "auto";
  int64_t threads = 0;

  void add_to(Command& command);
  void add_to(Command& command, SettingOptions& settings);  // also as settings of a run
  std::unique_ptr<ComputeDevice> open() const;
};

// "ingot" in the user's cache folder (XDG_CACHE_HOME, else ~/.cache); empty if there is neither.
std::string default_cache_dir();

// Fills in what the environment decides: the cache folder and, under a launcher, the number of
// ranks (with_world()).
RunConfig with_environment(RunConfig config);

// Opens the run's device, with its cache and the threads of all ranks in this process.
std::unique_ptr<ComputeDevice> open_device(const ResolvedRun& run);

// The peak of all devices of the run together: by data sheet or system.peak_tflops, and as measured
// now, within a few tenths of a second. Throws ErrorCode::Config if system.peak_tflops is a figure
// with sparsity.
PeakFlops quick_peak_flops(const ResolvedRun& run);
// The same. Measures again if `reached` is above the measured peak.
PeakFlops quick_peak_flops(const ResolvedRun& run, Context& ctx, double reached = 0.0);

// "NVIDIA H200"; empty for the CPU.
std::string gpu_name(Device device);

}  // namespace ingot::cli
