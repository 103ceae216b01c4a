// Exports a model as a GGUF file, for llama.cpp and programs based on it.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/gguf/file.h"
#include "checkpoint/new_output.h"
#include "checkpoint/weights.h"

namespace ingot {

// Writes matrices as `type` (Q8_0 as F16 if rows are not whole blocks), vectors and positions as
// F32. The file appears complete or not at all. Throws ErrorCode::Config if llama.cpp does not
// support the model, ErrorCode::Usage if `path` exists and must not be replaced, ErrorCode::Data
// for a tokenizer without a GGUF form.
void export_gguf(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                 const std::string& path, GgufType type,
                 NewFile::Existing existing = NewFile::Existing::Refused);

// Adds tokenizer.ggml.*, for `vocab` ids.
void add_gguf_tokenizer(GgufMetadata& metadata, const AuxiliaryFiles& auxiliary_files,
                        int64_t vocab);

}  // namespace ingot
