// llama2.c's version-0 model files.
#pragma once

#include <string>

#include "core/storage.h"

namespace ingot {

// Reads `model_path` (seven int32 of header, then fp32 weights, interleaved rotary pairs) and its
// tokenizer.bin, and writes a checkpoint folder at `out_dir`. Throws ErrorCode::Data when the
// file's size does not match its header; writes nothing then.
void import_llama2c(Storage& storage, const std::string& model_path,
                    const std::string& tokenizer_path, const std::string& out_dir);

}  // namespace ingot
