// `ingot eval --timeline` and `--watch`: all checkpoints of a run.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/eval/eval_model.h"

namespace ingot::cli {

// Scores of a model, as --json prints them.
using ScoreModel = std::function<nlohmann::ordered_json(EvalModel& model)>;

using OpenEvalModel = std::function<EvalModel(const std::string& path)>;

// Every checkpoint of the run: what it answers to the prompts and, where `score` is not empty, its
// scores. Prints them side by side.
nlohmann::ordered_json run_timeline(const OpenEvalModel& open, const std::string& run,
                                    const ScoreModel& score);

// Lines of JSON about each checkpoint that was watched, in the run folder.
inline constexpr std::string_view kWatchedName = "evals.jsonl";

// Scores each checkpoint of the run once, those to come too, and appends a line to evals.jsonl; a
// checkpoint is kept from retention while it is read. Returns when the run is complete and nothing
// is left to score.
void watch_run(const OpenEvalModel& open, const std::string& run, const ScoreModel& score);

}  // namespace ingot::cli
