// Whether generated text is the answer.
#pragma once

#include <string>

#include "eval/harness/harness_task.h"

namespace ingot {

// As lm-evaluation-harness compares, after both lost what is ignored. Throws ErrorCode::Data,
// naming `origin`, for a regular expression that is none.
bool is_exact_match(const std::string& generated, const std::string& answer,
                    const HarnessTask::ExactMatch& options, const std::string& origin);

}  // namespace ingot
