// What the checkpoint commands say of a checkpoint.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "cli/command.h"

namespace ingot::cli {

nlohmann::json facts_of(const CheckpointInfo& info);

// "LlamaForCausalLM", or that no other program's architecture has words for the model.
std::string family_of(const CheckpointInfo& info);

}  // namespace ingot::cli
