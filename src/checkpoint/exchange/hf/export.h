// Exports a model as a folder for Hugging Face's transformers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace ingot {

struct HfExportOptions {
  std::optional<DType> dtype = {};                       // F32, BF16 or F16; unset: as stored
  int64_t file_bytes = int64_t{5} * 1000 * 1000 * 1000;  // maximum size of a weights file
};

// Writes `dir`, new or empty: config.json, weights (with an index if there are several files), the
// tokenizer and the model's other files. The folder appears complete or not at all. Throws
// ErrorCode::Config if no architecture supports the model, ErrorCode::Data if a weight is not
// finite.
void export_hf(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
               const std::string& dir, const HfExportOptions& options);

}  // namespace ingot
