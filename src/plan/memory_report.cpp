#include "plan/memory_report.h"

#include <fmt/format.h>

#include "core/text/format.h"

namespace ingot {

MemoryReport memory_report(const ResolvedRun& run, int64_t free_bytes) {
  MemoryReport report;
  report.device =
      run.place.facts.kind == DeviceKind::Cpu ? run.place.device.str() : run.place.facts.name;
  report.precision = name_of(run.config.train.precision);
  report.parameters = parameter_count(run.config.model);
  report.ranks = run.config.system.ranks;
  report.device_ranks = run.place.device_ranks;
  report.fit = fit_memory(run, free_bytes);
  report.host_bytes = report.fit.plan.pinned_bytes + report.fit.plan.host_bytes;
  if (!report.fit.fits())
    report.advice = memory_advice(run, report.fit.available_bytes, /*resumed=*/false);
  return report;
}

std::string text_of(const MemoryReport& report) {
  const MemoryFit& fit = report.fit;
  std::string text =
      fmt::format("{} parameters in {} on {}, {} rank{}\n", format_count(report.parameters),
                  report.precision, report.device, report.ranks,
                  report.ranks == 1          ? ""
                  : report.device_ranks == 1 ? "s of one each"
                                             : "s");
  const auto line = [&](std::string_view what, int64_t bytes) {
    text += fmt::format("  {:<26}{:>12}\n", what, format_bytes(bytes));
  };
  for (const auto& [kind, bytes] : fit.plan.categories) line(name_of(kind), bytes);
  line("a rank", fit.plan.total_bytes);
  if (report.device_ranks > 1) line("all ranks", fit.needed_bytes);
  if (report.host_bytes > 0) line("host, a rank", report.host_bytes);
  if (fit.reserve_bytes > 0) line("reserved for CUDA kernels", fit.reserve_bytes);
  line("free", fit.available_bytes);
  return text + (fit.fits() ? "it fits" : "it does not fit: " + table_of(*report.advice));
}

nlohmann::json to_json(const MemoryReport& report) {
  const MemoryFit& fit = report.fit;
  nlohmann::json json = {{"device", report.device},
                         {"precision", report.precision},
                         {"parameters", report.parameters},
                         {"ranks", report.ranks},
                         {"bytes_per_rank", fit.plan.total_bytes},
                         {"host_bytes_per_rank", report.host_bytes},
                         {"reserve_bytes", fit.reserve_bytes},
                         {"available_bytes", fit.available_bytes},
                         {"fits", fit.fits()}};
  for (const auto& [kind, bytes] : fit.plan.categories)
    json["bytes"][std::string(name_of(kind))] = bytes;
  if (report.advice) {
    json["advice"] = sentence_of(*report.advice);
    json["changes"] = to_json(*report.advice);
  }
  return json;
}

}  // namespace ingot
