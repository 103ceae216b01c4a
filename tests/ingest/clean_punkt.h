// Punkt parameters for tests: a few by hand, since NLTK's own are not part of Ingot.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "core/storage/storage.h"
#include "ingest/clean/splitters/splitter.h"
#include "support/source_path.h"

namespace ingot::testing_support {

inline PunktFiles punkt_files() {
  const auto read = [](const std::string& name) {
    std::ifstream file(testing_support::source_path("tests/golden/data/punkt/") + name,
                       std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  };
  return {read("abbrev_types.txt"), read("collocations.tab"), read("sent_starters.txt"),
          read("ortho_context.tab")};
}

// Into a folder of `storage`, whose path it gives.
inline std::string write_punkt(Storage& storage) {
  const PunktFiles files = punkt_files();
  storage.make_directories("punkt");
  write_file_atomically(storage, "punkt/abbrev_types.txt", files.abbreviations);
  write_file_atomically(storage, "punkt/collocations.tab", files.collocations);
  write_file_atomically(storage, "punkt/sent_starters.txt", files.sentence_starters);
  write_file_atomically(storage, "punkt/ortho_context.tab", files.contexts);
  return "punkt";
}

}  // namespace ingot::testing_support
