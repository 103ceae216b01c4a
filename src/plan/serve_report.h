// How many conversations of which length fit into memory, of a model that is served.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/decode_shape.h"

namespace ingot {

struct ServeReport {
  std::string device = {};
  WeightFormat weights = WeightFormat::F32;
  int64_t free_bytes = 0;
  int64_t weight_bytes = 0;
  int64_t token_bytes = 0;  // keys and values of one token
  struct Fit {
    int64_t tokens = 0;         // of prompt and reply
    int64_t conversations = 0;  // at once, each of its own; 0: not even one
    int64_t bytes = 0;          // that they take with the weights
  };
  std::vector<Fit> fits = {};  // by length, up to the model's context
};

// In `free_bytes` of such a device. Each count is the largest whose whole table fits.
ServeReport serve_report(const DeviceFacts& facts, const ModelConfig& model, WeightFormat weights,
                         int64_t free_bytes);

std::string text_of(const ServeReport& report);  // several lines, the last without its end
nlohmann::json to_json(const ServeReport& report);

}  // namespace ingot
