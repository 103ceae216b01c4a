// ingot bench ops
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/frame/command.h"
#include "cli/start/machine.h"
#include "core/error/error.h"
#include "probe/measure.h"
#include "probe/op_case.h"

namespace ingot::cli {
namespace {

// Every op bench case, or those of one op: time, rates and percent of the roofline.
void bench_ops(const std::string& only, const DeviceOptions& device, const JsonOption& json) {
  const auto compute = device.open();
  Context& ctx = compute->context();
  const std::vector<OpCase> cases = op_bench_cases(ctx.device);
  const std::vector<std::string> names = op_names(cases);
  check(only.empty() || std::ranges::find(names, only) != names.end(), ErrorCode::Usage,
        "there is no op bench named \"{}\" on this device: choose from {}", only,
        fmt::join(names, ", "));
  const MachineLimits limits = measure_limits(ctx);
  fmt::print("{}, {} threads, {:.0f} GFLOP/s, {:.1f} GB/s copied\n", ctx.device,
             ctx.pool->num_threads(), limits.peak_flops / 1e9, limits.copy_bytes_per_second / 1e9);
  fmt::print("{:<40}{:>10}{:>10}{:>10}{:>10}\n", "case", "ms", "GFLOP/s", "GB/s", "roofline");
  nlohmann::json rows = nlohmann::json::array();
  for (const OpCase& op_case : cases) {
    if (!only.empty() && op_case.op != only) continue;
    const OpTiming timing = bench_op(ctx, op_case, limits);
    fmt::print("{:<40}{:>10.3f}{:>10.1f}{:>10.1f}{:>9.1f}%\n", op_case.name, timing.seconds * 1e3,
               timing.gflops, timing.gbytes_s, timing.percent_of_roofline);
    rows.push_back({{"case", op_case.name},
                    {"op", op_case.op},
                    {"dtype", name_of(bench_dtype(ctx.device))},
                    {"device", ctx.device.str()},
                    {"ms", timing.seconds * 1e3},
                    {"gflops", timing.gflops},
                    {"gbytes_s", timing.gbytes_s},
                    {"percent_of_roofline", timing.percent_of_roofline}});
  }
  json.print({{"gpu", gpu_name(ctx.device)},
              {"threads", ctx.pool->num_threads()},
              {"peak_flops", limits.peak_flops},
              {"copy_bytes_s", limits.copy_bytes_per_second},
              {"ops", rows}});
}

}  // namespace

void add_bench_ops(Command& bench) {
  struct Options {
    std::string only;
    DeviceOptions device;
    JsonOption json;
  };
  auto options = std::make_shared<Options>();
  auto* ops =
      bench.add_subcommand("ops", "each op at a training step's shape, percent of roofline");
  ops->add_option("--op", options->only, "only this op");
  options->device.add_to(*ops);
  options->json.add_to(*ops);
  ops->callback([options] { bench_ops(options->only, options->device, options->json); });
}

}  // namespace ingot::cli
