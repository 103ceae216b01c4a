// What a tokenizer is trained on: a stream of documents, or the beginning of one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ingot {

// Gives the next document; false at the end. It may be called from any thread, by one at a time.
using NextDocument = std::function<bool(std::string& document)>;

struct SampleLimit {
  int64_t documents = 0;   // 0: no limit
  int64_t characters = 0;  // Unicode characters; 0: no limit
};

// The beginning of a stream, up to the limit that is reached first. The document in which the
// characters run out is cut there, so that the sample has exactly as many as asked for.
NextDocument sample_of(NextDocument next, SampleLimit limit);

// A byte that is no part of valid UTF-8 counts as it lies: a continuation byte as none.
int64_t count_characters(std::string_view text);

}  // namespace ingot
