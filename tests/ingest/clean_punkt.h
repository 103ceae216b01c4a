// Punkt parameters for tests: a few by hand, since NLTK's own are not part of Ingot.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "ingest/clean/splitters/splitter.h"

namespace ingot::testing_support {

inline PunktFiles punkt_files() {
  const auto read = [](const std::string& name) {
    std::ifstream file(INGOT_SOURCE_DIR "/tests/golden/data/punkt/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  };
  return {read("abbrev_types.txt"), read("collocations.tab"), read("sent_starters.txt"),
          read("ortho_context.tab")};
}

}  // namespace ingot::testing_support
