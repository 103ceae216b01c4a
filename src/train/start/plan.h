// What a run would take: memory, steps, tokens, epochs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/start/prepare.h"

namespace ingot {

struct RunPlan {
  int64_t parameters = 0;
  int64_t bytes_per_rank = 0;  // by the tensor table that a run allocates
  int ranks = 1;
  std::string device, precision;
  Horizon length;                     // empty if the settings do not say when to stop
  std::optional<int64_t> first_step;  // of a prepared run
  std::vector<SourceEpochs> epochs;   // likewise
};

RunPlan plan_of(const ResolvedRun& run);  // opens no data
RunPlan plan_of(const PreparedRun& run);

std::string text_of(const RunPlan& plan);  // several lines, the last without its end
nlohmann::json to_json(const RunPlan& plan);

}  // namespace ingot
