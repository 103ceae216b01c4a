// Decides what a run starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/choice.h"
#include "core/storage/storage.h"
#include "plan/resolved_run.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Returns the newest good checkpoint to resume from, or nothing for a fresh start. Throws
// ErrorCode::Config when
// - the run folder already holds checkpoints but `resume` is off;
// - it holds checkpoints and none is good;
// - settings that define the run (model, batch, optimizer, seed, precision) differ from the
//   checkpoint's; names each.
// `checkpoints`: those of the run folder, if they are open already; may be null.
std::optional<CheckpointReader> find_resume_point(
    std::shared_ptr<Storage> storage, const ResolvedRun& run, bool resume,
    const std::shared_ptr<CheckpointChoice>& checkpoints = nullptr);

// The tokenizer of a run resumed from `checkpoint`: data.tokenizer, or the checkpoint's own if that
// file is gone. Throws ErrorCode::Config when the two differ.
std::unique_ptr<Tokenizer> tokenizer_to_resume(Storage& storage, const RunConfig& config,
                                               const CheckpointInfo& checkpoint);

// A run as its folder has it.
struct SavedRun {
  RunConfig config;
  // Of an older program's run, whose checkpoint has the settings; else null: they were not opened.
  std::shared_ptr<CheckpointChoice> checkpoints;
};

// A resume's steps keep the tokens that they had, unless told otherwise. Throws ErrorCode::Config
// for sequences of another length: the run is another. Were only the settings checked, they would
// name the tokens of a step, which nobody set.
void check_steps_fit(const std::string& dir, const RunConfig& begun, const RunConfig& wanted);

// The settings that the run in `dir` was last started with, changed by `overrides`. For a run of an
// older program: those of its newest checkpoint. Nothing if there is no run. Throws like
// check_steps_fit().
std::optional<SavedRun> find_saved_run(std::shared_ptr<Storage> storage, const std::string& dir,
                                       const Overrides& overrides = {});

// The same for a resume in `dir`. Throws ErrorCode::Data when there is no run, and ErrorCode::Usage
// for an override of checkpoint.dir.
SavedRun saved_run(std::shared_ptr<Storage> storage, const std::string& dir, Overrides overrides);

}  // namespace ingot
