// What the checkpoint commands print about a checkpoint.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/models/open_model.h"
#include "cli/frame/command.h"

namespace ingot::cli {

// For a run's checkpoint, where the run was; for any other model, what it is.
nlohmann::json facts_of(const CheckpointInfo& info, const Weights& weights);

// What such a command accepts: "checkpoint, run folder, Hugging Face folder, GGUF file or …".
std::string model_path_forms();

// "bf16", or "bf16 and f32" if there are several.
std::string dtypes_of(const Weights& weights);

// "LlamaForCausalLM, 1,235,814,400 parameters, bf16".
std::string model_line(const CheckpointInfo& info, const std::string& dtype);

}  // namespace ingot::cli
