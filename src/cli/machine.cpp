#include "cli/machine.h"

#include <cstdlib>

#include "core/storage.h"
#include "probe/measure.h"
#include "train/engine.h"

namespace ingot::cli {
namespace {

std::unique_ptr<ComputeDevice> open_device(Device device, int64_t threads,
                                           const std::string& cache_dir) {
  return std::make_unique<ComputeDevice>(
      device, static_cast<int>(threads > 0 ? threads : available_cores()), cache_dir);
}

}  // namespace

void DeviceOptions::add_to(Command& command) {
  command.add_option("--device", device, "auto, cpu or cuda")
      ->capture_default_str()
      ->one_of({"auto", "cpu", "cuda"});
  command.add_option("--threads", threads, "CPU threads; 0 = all cores")->capture_default_str();
}

std::unique_ptr<ComputeDevice> DeviceOptions::open() const {
  return open_device(choose_device(device), threads, default_cache_dir());
}

std::string default_cache_dir() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return join_path(cache, "ingot");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return join_path(home, ".cache/ingot");
  return {};
}

RunConfig with_environment(RunConfig config) {
  if (config.system.cache_dir.empty()) config.system.cache_dir = default_cache_dir();
  return config;
}

std::unique_ptr<ComputeDevice> open_device(const RunConfig& config) {
  return open_device(run_device(config), config.system.threads, config.system.cache_dir);
}

double quick_peak_flops(const RunConfig& config) {
  return measure_peak_flops(open_device(config)->context());
}

std::string gpu_name(Device device) {
  const auto gpu = gpu_facts(device);
  return gpu ? gpu->name : "";
}

}  // namespace ingot::cli
