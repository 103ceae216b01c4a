// Flags for the format of a decoder's weights and for its context.
#pragma once

#include <string>

#include "cli/frame/command_line.h"
#include "plan/decode_shape.h"

namespace ingot::cli {

// --weights, --context.
struct WeightOptions {
  std::string weights = "f32";
  int64_t context = 0;

  void add_to(Command& command);
  void add_weights_to(Command& command);  // --weights alone
  WeightFormat format() const { return *parse_weight_format(weights); }
  ModelOptions options(int64_t max_sequences) const;
};

}  // namespace ingot::cli
