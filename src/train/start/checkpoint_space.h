// Checks that there is room for what a run will save.
#pragma once

#include <cstdint>

#include "core/storage/storage.h"
#include "plan/resolved_run.h"

namespace ingot {

// Bytes of one checkpoint, all ranks together: exact weights and optimizer states, by the table of
// parameters. Headers, manifest and tokenizer come on top.
int64_t checkpoint_bytes(const ResolvedRun& run);

// Throws ErrorCode::Storage, saying what is needed and what is free, unless the file system of
// checkpoint.dir has room for two checkpoints: one is removed only when the next is complete. One
// is enough if the folder already holds checkpoints.
void check_space(Storage& storage, const ResolvedRun& run);

}  // namespace ingot
