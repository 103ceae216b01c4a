// Compares a run's tokenizer with that of the weights it begins with.
#pragma once

#include "checkpoint/checkpoint.h"
#include "core/storage/storage.h"
#include "spec/run/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// Throws ErrorCode::Config if the checkpoint `from` (train.init) was trained with another tokenizer
// than `tokenizer`, unless train.other_tokenizer accepts that. Warns if the checkpoint does not say
// which tokenizer it had.
void check_init_tokenizer(Storage& storage, const CheckpointInfo& from, const Tokenizer& tokenizer,
                          const RunConfig& config);

}  // namespace ingot
