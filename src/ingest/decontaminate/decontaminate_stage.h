// Decontamination as a stage over files: FOLDER/documents/NAME.jsonl.zst without the documents that
// share an n-gram with an evaluation task, FOLDER/removed, if asked for, with those, their task and
// n-gram; FOLDER/report.json and report.html.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "ingest/decontaminate/contamination_index.h"
#include "ingest/tasks/stage.h"

namespace ingot {

struct DecontaminateStage {
  StageInputs inputs;
  ContaminationSettings settings;
  std::vector<EvalTask> tasks;  // names differ
  bool keeps_removed = false;
};

// As run_clean.
std::optional<nlohmann::json> run_decontaminate(const DecontaminateStage& stage,
                                                const StageRun& run);

}  // namespace ingot
