// The cleaning job over files. FOLDER/documents/NAME.jsonl.zst holds the kept documents of each
// input; FOLDER/removed/NAME.jsonl.zst, on request, the removed ones with step and reason.
// FOLDER/report.json and report.html count what each rule removed.
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

// Does this process's share of the remaining work. The process that finds everything done writes
// the report and returns it; others return nothing, also if other processes are still working. The
// folder's bytes depend only on the job, not on threads, processes or kills.
std::optional<nlohmann::json> run_clean(const CleanStage& stage, const StageRun& run);

}  // namespace ingot
