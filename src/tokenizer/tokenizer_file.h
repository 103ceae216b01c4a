// Finds the tokenizer file of a folder.
#pragma once

#include <string>

#include "core/storage/storage.h"

namespace ingot {

// The file that load_tokenizer() reads for a path: the path itself, or the file in the folder.
// Throws ErrorCode::Data for a folder with none or several.
std::string tokenizer_file(Storage& storage, const std::string& path);

// Whether the folder has tokenizer files.
bool holds_tokenizer(Storage& storage, const std::string& folder);

}  // namespace ingot
