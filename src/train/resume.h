// Deciding what a run starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/storage.h"
#include "spec/run_config.h"

namespace ingot {

// The checkpoint to go on from, or nothing for a fresh start. Throws ErrorCode::Config when the run
// folder already holds checkpoints but `resume` is off, or when a setting that defines the run
// (model, data, batch, optimizer, seed, precision) differs from the checkpoint's, naming each.
// `config` has its train.precision decided.
std::optional<std::string> find_resume_point(std::shared_ptr<Storage> storage,
                                             const RunConfig& config, bool resume);

}  // namespace ingot
