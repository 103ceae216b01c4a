// Deciding what a run starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "core/storage/storage.h"
#include "plan/resolved_run.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// The checkpoint to go on from, which is good, or nothing for a fresh start. Throws
// ErrorCode::Config when the run folder already holds checkpoints but `resume` is off, when it held
// some and none is sound, or when a setting that defines the run (model, batch, optimizer, seed,
// precision) differs from the checkpoint's, naming each.
std::optional<CheckpointReader> find_resume_point(std::shared_ptr<Storage> storage,
                                                  const ResolvedRun& run, bool resume);

// What a run resumed from `checkpoint` encodes with: data.tokenizer, or the checkpoint's own where
// nothing is left at that path. Throws ErrorCode::Config when the two are not the same.
std::unique_ptr<Tokenizer> tokenizer_to_resume(Storage& storage, const RunConfig& config,
                                               const CheckpointInfo& checkpoint);

// The settings that the run in `dir` was last started with, under `overrides`; of an older
// program's run, those of its newest checkpoint. Nothing where there is no run.
std::optional<RunConfig> config_of_run(std::shared_ptr<Storage> storage, const std::string& dir,
                                       const Overrides& overrides = {});

// The same to go on in `dir`. Throws ErrorCode::Data when there is no run, ErrorCode::Usage for an
// override of checkpoint.dir.
RunConfig saved_run_config(std::shared_ptr<Storage> storage, const std::string& dir,
                           Overrides overrides);

}  // namespace ingot
