// Cleaning as a stage over files: FOLDER/documents/NAME.jsonl.zst is what stays of each input,
// FOLDER/removed/NAME.jsonl.zst, if asked for, what does not, with step and reason;
// FOLDER/report.json and report.html say what was removed by which rule.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "ingest/clean/clean_config.h"
#include "ingest/tasks/stage.h"

namespace ingot {

struct CleanStage {
  StageInputs inputs;
  CleanSettings settings;
  bool keeps_removed = false;
};

// Does this process' share of what is left to do. The process that finds everything done writes the
// report and gets it; the others, and one that finds others still at work, get nothing. The
// folder's bytes depend on the stage alone: not on threads, processes, kills.
std::optional<nlohmann::json> run_clean(const CleanStage& stage, const StageRun& run);

}  // namespace ingot
