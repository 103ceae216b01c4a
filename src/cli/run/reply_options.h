// Flags for how replies are sampled and where they end.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command_line.h"
#include "infer/model.h"

namespace ingot::cli {

struct ReplyOptions {
  SamplingOptions sampling;
  std::vector<std::string> biases;  // "ID=VALUE"
  std::vector<std::string> stop_strings;
  std::vector<std::string> stop_ids;
  bool ignore_eos = false;
  bool slide = false;

  void add_to(Command& command);
  // A request with these options and the model's stop ids.
  Request request(const LoadedModel& model, std::vector<int32_t> prompt) const;
};

}  // namespace ingot::cli
