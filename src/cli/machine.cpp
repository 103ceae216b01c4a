#include "cli/machine.h"

#include <cstdlib>

#include "core/storage.h"
#include "probe/measure.h"

namespace ingot::cli {

void DeviceOptions::add_to(Command& command) {
  command.add_option("--device", device, "auto, cpu or cuda")
      ->capture_default_str()
      ->one_of({"auto", "cpu", "cuda"});
  command.add_option("--threads", threads, "CPU threads; 0 = all cores")->capture_default_str();
}

std::unique_ptr<ComputeDevice> DeviceOptions::open() const {
  return std::make_unique<ComputeDevice>(
      choose_device(device), static_cast<int>(threads > 0 ? threads : available_cores()),
      default_cache_dir());
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

double quick_peak_flops(const SystemConfig& system) {
  const auto compute = DeviceOptions{system.device, system.threads}.open();
  return measure_peak_flops(compute->context());
}

}  // namespace ingot::cli
