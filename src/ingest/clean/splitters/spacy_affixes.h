// spaCy's English affix rules as scanners. A chunk is a run of non-whitespace, valid UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

// Length in bytes of the prefix or suffix that the rules split off the chunk; 0: none. Constant
// time, except for a run of full stops, which is one affix.
size_t spacy_prefix_bytes(std::string_view chunk);
size_t spacy_suffix_bytes(std::string_view chunk);

struct SpacyInfix {
  size_t begin, end;  // bytes
};
// The first infix at or after `from`; begin == end: none is left. Finding all infixes of a chunk,
// each from the previous end, takes linear time.
SpacyInfix spacy_next_infix(std::string_view chunk, size_t from);

// Whether the URL pattern matches the whole chunk. Linear time.
bool spacy_is_url(std::string_view chunk);

}  // namespace ingot
