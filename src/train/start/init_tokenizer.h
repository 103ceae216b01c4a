// Whether a run encodes its text as that of the weights it begins with was.
#pragma once

#include "checkpoint/checkpoint.h"
#include "core/storage/storage.h"
#include "spec/run/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Throws ErrorCode::Config where the checkpoint `from`, which is train.init's, was trained with
// another tokenizer than `tokenizer`, unless train.other_tokenizer accepts that. Warns where the
// checkpoint does not say which.
void check_init_tokenizer(Storage& storage, const CheckpointInfo& from, const Tokenizer& tokenizer,
                          const RunConfig& config);

}  // namespace ingot
