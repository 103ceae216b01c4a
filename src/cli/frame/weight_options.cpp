#include "cli/frame/weight_options.h"

namespace ingot::cli {

void WeightOptions::add_weights_to(Command& command) {
  command
      .add_option("--weights", weights,
                  "how weights are held in memory; q8_0 is the smallest and fastest")
      ->capture_default_str()
      ->one_of({"f32", "bf16", "q8_0"});
}

void WeightOptions::add_to(Command& command) {
  add_weights_to(command);
  command
      .add_option("--context", context, "most tokens of a sequence; 0 = the model's own context")
      ->capture_default_str()
      ->not_negative();
}

ModelOptions WeightOptions::options(int64_t max_sequences) const {
  return {.weights = format(), .context = context, .max_sequences = max_sequences};
}

}  // namespace ingot::cli
