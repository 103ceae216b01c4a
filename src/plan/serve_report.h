// How many conversations of which length fit into memory when a model is served.
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
    int64_t tokens = 0;         // prompt and reply of one conversation
    int64_t conversations = 0;  // at once, without shared prefixes; 0: not even one fits
    int64_t bytes = 0;          // of these conversations and the weights
  };
  std::vector<Fit> fits = {};  // for several lengths, up to the model's context
};

// For `free_bytes` of such a device. Each count is the largest whose memory table fits.
ServeReport serve_report(const DeviceFacts& facts, const ModelConfig& model, WeightFormat weights,
                         int64_t free_bytes);

std::string text_of(const ServeReport& report);  // several lines, without a newline at the end
nlohmann::json to_json(const ServeReport& report);

}  // namespace ingot
