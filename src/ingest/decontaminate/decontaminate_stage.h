// The decontamination job over files: removes documents that overlap evaluation questions.
// FOLDER/documents/NAME.jsonl.zst holds the documents that share no n-gram with an evaluation task;
// FOLDER/removed, on request, the others with task and n-gram; also FOLDER/report.json and
// report.html.
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
  std::vector<EvalTask> tasks;  // with unique names
  bool keeps_removed = false;
};

// As run_clean.
std::optional<nlohmann::json> run_decontaminate(const DecontaminateStage& stage,
                                                const StageRun& run);

}  // namespace ingot
