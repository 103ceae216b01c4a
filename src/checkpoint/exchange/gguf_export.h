// A model as a GGUF file, which llama.cpp and what is built on it run.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/gguf_file.h"
#include "checkpoint/new_output.h"
#include "checkpoint/weights.h"

namespace ingot {

// Matrices are written as `type`, Q8_0 as F16 where rows are no whole blocks; vectors and positions
// are F32. Whole or not at all. Throws ErrorCode::Config where llama.cpp has no words for the
// model, ErrorCode::Usage where `path` exists and is not to be replaced, ErrorCode::Data for a
// tokenizer that has no form there.
void export_gguf(Storage& storage, const Weights& weights, const Companions& companions,
                 const std::string& path, GgufType type,
                 NewFile::Existing existing = NewFile::Existing::Refused);

// tokenizer.ggml.*, of `vocab` ids.
void add_gguf_tokenizer(GgufMetadata& metadata, const Companions& companions, int64_t vocab);

}  // namespace ingot
