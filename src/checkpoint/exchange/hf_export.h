// A model as a folder that Hugging Face's transformers loads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace ingot {

struct HfExportOptions {
  std::optional<DType> dtype = {};  // F32, BF16 or F16; none: as they are stored
  int64_t file_bytes = int64_t{5} * 1000 * 1000 * 1000;  // of weights in a file at most
};

// Writes `dir`, new or empty: config.json, weights with an index where they are several files, the
// tokenizer and what else came with the model. Whole or not at all. Throws ErrorCode::Config where
// no architecture has words for the model, ErrorCode::Data where a weight is not finite.
void export_hf(Storage& storage, const Weights& weights, const Companions& companions,
               const std::string& dir, const HfExportOptions& options);

}  // namespace ingot
