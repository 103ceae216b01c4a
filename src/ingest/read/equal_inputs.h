// Detects inputs that would be read twice under different names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"

namespace ingot {

// What is wrong with reading all of `files`, with advice; empty: nothing.

// Two of them are the same file: through links, overlapping folders, or equal addresses.
std::string same_file_twice(const std::vector<InputFile>& files);

// Two of the user's inputs hold the same files under any names. Reads only inputs whose files have
// equal sizes, `threads` files at a time.
std::string equal_inputs(const std::vector<InputFile>& files, int64_t threads);

}  // namespace ingot
