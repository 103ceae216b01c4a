// Inputs that would be read twice under two names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"

namespace ingot {

// What is wrong with reading all of `files`, as a sentence that says what to do; empty: nothing.

// Two of them are one file: by links, by folders that overlap, or by its address.
std::string same_file_twice(const std::vector<InputFile>& files);

// Two inputs that the user named hold the same files, whatever these are called. Only inputs whose
// files have the same sizes are read for that, `threads` files at a time.
std::string equal_inputs(const std::vector<InputFile>& files, int64_t threads);

}  // namespace ingot
