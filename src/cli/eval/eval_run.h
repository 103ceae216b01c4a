// `ingot eval --timeline` and `--watch`: scores all checkpoints of a run.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/eval/eval_model.h"

namespace ingot::cli {

// Returns the scores of a model, as --json prints them.
using ScoreModel = std::function<nlohmann::ordered_json(EvalModel& model)>;

using OpenEvalModel = std::function<EvalModel(const std::string& path)>;

// Prints, for every checkpoint of the run side by side, its answers to the prompts and, if `score`
// is not empty, its scores.
nlohmann::ordered_json run_timeline(const OpenEvalModel& open, const std::string& run,
                                    const ScoreModel& score);

// File in the run folder with a line of JSON for each checkpoint that --watch has scored.
inline constexpr std::string_view kWatchedName = "evals.jsonl";

// Scores each checkpoint of the run once, also those still to come, and appends a line to
// evals.jsonl. Retention does not remove a checkpoint while it is read. Returns when the run is
// complete and nothing is left to score.
void watch_run(const OpenEvalModel& open, const std::string& run, const ScoreModel& score);

}  // namespace ingot::cli
