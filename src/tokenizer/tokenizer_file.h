// Which file of a folder holds a tokenizer.
#pragma once

#include <string>

#include "core/storage/storage.h"

namespace ingot {

// The file that load_tokenizer() reads for a path: that itself, or the one in the folder. Throws
// ErrorCode::Data for a folder with none or several.
std::string tokenizer_file(Storage& storage, const std::string& path);

// Whether a folder has such files.
bool holds_tokenizer(Storage& storage, const std::string& folder);

}  // namespace ingot
