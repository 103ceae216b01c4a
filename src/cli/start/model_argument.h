// The model that a command computes with, as arguments: its path and the device.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/start/machine.h"
#include "infer/model.h"

namespace ingot::cli {

// What a path of a model may be, for help.
inline constexpr std::string_view kModelPaths =
    "checkpoint, run folder, Hugging Face folder or GGUF file";

struct OpenedModel {
  std::unique_ptr<ComputeDevice> device;
  std::unique_ptr<LoadedModel> model;  // on that device
};

struct ModelArgument {
  std::string path;
  DeviceOptions device;

  void add_path_to(Command& command);  // CHECKPOINT, required
  // Throws what DeviceOptions::open() and LoadedModel throw.
  OpenedModel open(const ModelOptions& options) const;
};

}  // namespace ingot::cli
