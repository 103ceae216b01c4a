// The shape that `ingot bench train`, `limit` and `comm` run, and the JSON of their results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/start/machine.h"
#include "probe/step_limit.h"

namespace ingot::cli {

// The shape a bench runs, from flags or from --set with any setting.
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
  // The run with one rank, or with all ranks.
  ResolvedRun resolved_alone() const;
  ResolvedRun resolved() const;
};

// The facts that a figure depends on.
nlohmann::json facts_of(const RunConfig& config, const Context& ctx);

// Adds NAME, a share of the data sheet's peak, null if that is unknown; NAME_measured, a share of
// the measured peak; and peak_busy and peak_doubtful, which say whether the measured peak is
// reliable.
void add_mfu(nlohmann::json& line, const std::string& name, double flops, const PeakFlops& peak);

// Throws ErrorCode::Config for settings that the limit does not account for.
void check_has_limit(const RunConfig& config);
StepLimit step_limit(Context& ctx, const ResolvedRun& run);

}  // namespace ingot::cli
