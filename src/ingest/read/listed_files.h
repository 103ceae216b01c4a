// The files of a location, and what else it holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"

namespace ingot {

// What a folder holds and nothing reads, counted by what it is; hidden files aside.
using LeftOut = std::map<std::string, int64_t>;

struct ListedFiles {
  std::vector<InputFile> files;
  LeftOut left_out;
};

// What a file of this name counts as in LeftOut; empty for one that open_documents() reads.
std::string left_out_as(const std::string& name);

// "2 .bz2, 1 links to nothing"
std::string list_of(const LeftOut& left_out);

}  // namespace ingot
