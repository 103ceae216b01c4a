// The device a command computes on, by flags or by a run's settings.
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
  void add_to(Command& command, SettingOptions& settings);  // as options of a run's settings too
  std::unique_ptr<ComputeDevice> open() const;
};

// "ingot" in the user's cache folder (XDG_CACHE_HOME, else ~/.cache); empty when there is neither.
std::string default_cache_dir();

// The run with what the environment decides filled in: the cache folder, and under a launcher the
// number of ranks (with_world()).
RunConfig with_environment(RunConfig config);

// The run's device with its cache and the threads of all ranks that this process is.
std::unique_ptr<ComputeDevice> open_device(const ResolvedRun& run);

// What all devices of the run could do together: by data sheet, or system.peak_tflops each, and
// measured now in tenths of a second at most. Throws ErrorCode::Config when the latter is a figure
// with sparsity.
PeakFlops quick_peak_flops(const ResolvedRun& run);
// The same; measured again where the run reached more than that.
PeakFlops quick_peak_flops(const ResolvedRun& run, Context& ctx, double reached = 0.0);

// "NVIDIA H200"; empty for the CPU.
std::string gpu_name(Device device);

}  // namespace ingot::cli
