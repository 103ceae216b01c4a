#include <fmt/format.h>

#include "cli/bench.h"
#include "core/error.h"
#include "probe/measure.h"
#include "probe/op_case.h"

namespace ingot::cli {

void bench_ops(const std::string& only, const DeviceOptions& device, const JsonOption& json) {
  const auto compute = device.open();
  Context& ctx = compute->context();
  const MachineLimits limits = measure_limits(ctx);
  fmt::print("{}, {} threads, {:.0f} GFLOP/s, {:.1f} GB/s copied\n", ctx.device,
             ctx.pool->num_threads(), limits.peak_flops / 1e9, limits.copy_bytes_per_second / 1e9);
  fmt::print("{:<40}{:>10}{:>10}{:>10}{:>10}\n", "case", "ms", "GFLOP/s", "GB/s", "roofline");
  nlohmann::json rows = nlohmann::json::array();
  for (const OpCase& op_case : op_bench_cases(ctx.device)) {
    if (!only.empty() && op_case.op != only) continue;
    const OpTiming timing = bench_op(ctx, op_case, limits);
    fmt::print("{:<40}{:>10.3f}{:>10.1f}{:>10.1f}{:>9.1f}%\n", op_case.name, timing.seconds * 1e3,
               timing.gflops, timing.gbytes_s, timing.percent_of_roofline);
    rows.push_back({{"case", op_case.name},
                    {"ms", timing.seconds * 1e3},
                    {"gflops", timing.gflops},
                    {"gbytes_s", timing.gbytes_s},
                    {"percent_of_roofline", timing.percent_of_roofline}});
  }
  check(!rows.empty(), ErrorCode::Usage, "there is no op bench named \"{}\"", only);
  json.print({{"peak_flops", limits.peak_flops},
              {"copy_bytes_s", limits.copy_bytes_per_second},
              {"ops", rows}});
}

}  // namespace ingot::cli
