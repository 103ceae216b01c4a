// What `ingot bench train`, `limit` and `comm` run, and how their figures are told.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/start/machine.h"
#include "probe/step_limit.h"

namespace ingot::cli {

// The shape a bench runs, from flags or from any setting by --set.
struct BenchShape {
  std::string preset = "llama_10m";
  int64_t batch = 8;
  int64_t seq = 512;
  std::string precision = "auto";
  std::string recompute = "selective";
  int64_t ranks = 1;
  DeviceOptions device;
  std::vector<std::string> sets;
  SettingOptions options;  // the ones above

  void add_to(Command& command);
  void add_ranks_to(Command& command);      // -n
  void add_recompute_to(Command& command);  // --recompute
  // One rank, or all that take part.
  ResolvedRun resolved_alone() const;
  ResolvedRun resolved() const;
};

// What a figure belongs to.
nlohmann::json facts_of(const RunConfig& config, const Context& ctx);

// NAME: of the data sheet's peak, null where none is known; NAME_measured: of the measured one;
// peak_busy and peak_doubtful: whether that one can be believed.
void add_mfu(nlohmann::json& line, const std::string& name, double flops, const PeakFlops& peak);

// Throws ErrorCode::Config for what the limit does not count.
void check_has_limit(const RunConfig& config);
StepLimit step_limit(Context& ctx, const ResolvedRun& run);

}  // namespace ingot::cli
