// spaCy's English affix rules as scanners. A chunk is a run of non-whitespace, valid UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

// Bytes of the prefix or suffix that the rules take off the chunk; 0: none. Constant time but for
// runs of full stops, which go as a whole.
size_t spacy_prefix_bytes(std::string_view chunk);
size_t spacy_suffix_bytes(std::string_view chunk);

struct SpacyInfix {
  size_t begin, end;  // bytes
};
// The first infix that begins at or after `from`; begin == end: none is left. Finding all of a
// chunk, each from the end of the one before, takes time in proportion to it.
SpacyInfix spacy_next_infix(std::string_view chunk, size_t from);

// Does the URL pattern match the whole chunk? Time in proportion to it.
bool spacy_is_url(std::string_view chunk);

}  // namespace ingot
