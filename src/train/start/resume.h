// Deciding what a run starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/storage/storage.h"
#include "spec/resolved_run.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// The checkpoint to go on from, or nothing for a fresh start. Throws ErrorCode::Config when the run
// folder already holds checkpoints but `resume` is off, when it held some and none is sound, or
// when a setting that defines the run (model, batch, optimizer, seed, precision) differs from the
// checkpoint's, naming each.
std::optional<std::string> find_resume_point(std::shared_ptr<Storage> storage,
                                             const ResolvedRun& run, bool resume);

// What a run resumed from `checkpoint` encodes with: data.tokenizer, or the checkpoint's own where
// nothing is left at that path. Throws ErrorCode::Config when the two are not the same.
std::unique_ptr<Tokenizer> tokenizer_to_resume(std::shared_ptr<Storage> storage,
                                               const RunConfig& config,
                                               const std::string& checkpoint);

// The settings of the run in `dir`, by its newest checkpoint that can be read, or where it has none
// as it was last started; nothing where there is no run.
std::optional<RunConfig> config_of_run(std::shared_ptr<Storage> storage, const std::string& dir);

// The settings that the run in `dir` was last started with, under `overrides`. Throws
// ErrorCode::Data when there is no run, ErrorCode::Usage for an override of checkpoint.dir.
RunConfig saved_run_config(std::shared_ptr<Storage> storage, const std::string& dir,
                           Overrides overrides);

}  // namespace ingot
