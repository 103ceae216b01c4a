// Compares generated text with the answer.
#pragma once

#include <string>

#include "eval/harness/harness_task.h"

namespace ingot {

// Compares like lm-evaluation-harness, after `options` removed what to ignore from both. Throws
// ErrorCode::Data, naming `origin`, for an invalid regular expression.
bool is_exact_match(const std::string& generated, const std::string& answer,
                    const HarnessTask::ExactMatch& options, const std::string& origin);

}  // namespace ingot
