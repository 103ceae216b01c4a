#include "cli/start/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cli/start/processes.h"
#include "core/storage/storage.h"
#include "probe/measure.h"
#include "spec/machine/gpu_peaks.h"

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
  command.add_option("--threads", threads, "CPU threads; 0 = all cores")
      ->not_negative()
      ->capture_default_str();
}

void DeviceOptions::add_to(Command& command, SettingOptions& settings) {
  add_to(command);
  settings.add("system.device", command.get_option("--device"));
  settings.add("system.threads", command.get_option("--threads"));
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
  return with_world(std::move(config));
}

std::unique_ptr<ComputeDevice> open_device(const ResolvedRun& run) {
  const SystemConfig& system = run.config.system;
  return open_device(run.place.device, this_launch() ? run.place.threads_per_rank : system.threads,
                     system.cache_dir);
}

PeakFlops quick_peak_flops(const ResolvedRun& run) {
  return quick_peak_flops(run, open_device(run)->context());
}

PeakFlops quick_peak_flops(const ResolvedRun& run, Context& ctx, double reached) {
  const RunConfig& config = run.config;
  const std::string gpu = gpu_name(ctx.device);
  const Precision precision = config.train.precision;
  const double given = config.system.peak_tflops;
  if (given > 0) check_dense_peak(given, gpu, precision);
  // Ranks that are threads share the CPU, and so did the measurement.
  const bool shared = gpu.empty() && !this_launch();
  const auto devices = shared ? 1.0 : static_cast<double>(config.system.ranks);
  PeakFlops peak;
  peak.datasheet = devices * (given > 0 ? 1e12 * given : datasheet_peak_flops(gpu, precision));
  peak.datasheet_source =
      given > 0 ? "system.peak_tflops" : fmt::format("data sheet, dense {}", name_of(precision));
  // Threads beyond the cores take turns on them: together they reach what the cores do.
  const double turns =
      gpu.empty() ? std::max(1.0, static_cast<double>(ctx.pool->num_threads()) / available_cores())
                  : 1.0;
  constexpr int kMostMeasurements = 3;
  for (int i = 0; i < kMostMeasurements && (i == 0 || reached > peak.measured); ++i) {
    PeakRate rate = measure_peak(ctx);
    rate.flops /= turns;
    rate.busy = std::max(0.0, 1.0 - (1.0 - rate.busy) * turns);
    if (devices * rate.flops <= peak.measured) continue;
    peak.measured = devices * rate.flops;
    peak.busy = rate.busy;
  }
  peak.measured_dtype = name_of(bench_dtype(ctx.device));
  return peak;
}

std::string gpu_name(Device device) {
  const auto gpu = gpu_facts(device);
  return gpu ? gpu->name : "";
}

}  // namespace ingot::cli
