// Counts repeated lines and paragraphs.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ingest/clean/filters/hash_tables.h"

namespace ingot {

// Appends the pieces between runs of at least `min_run` newlines, like re.split("\n{min_run,}"),
// including empty ones at both ends.
void split_at_newlines(std::string_view text, size_t min_run,
                       std::vector<std::string_view>& pieces);

struct Duplicates {
  size_t count = 0;  // occurrences after the first
  size_t chars = 0;  // their code points
};
Duplicates find_duplicates(const std::vector<std::string_view>& pieces, HashSet& seen);

}  // namespace ingot
