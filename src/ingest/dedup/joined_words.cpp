#include "ingest/dedup/joined_words.h"

#include <cstring>

namespace ingot {

void JoinedWords::assign(const WordList& list) {
  size_t size = 0;
  for (const Word& word : list.words) size += word.bytes + 1;
  joined_.resize(size);
  begins_.clear();
  char* out = joined_.data();
  for (const Word& word : list.words) {
    begins_.push_back(static_cast<size_t>(out - joined_.data()));
    std::memcpy(out, word.data, word.bytes);
    out += word.bytes;
    *out++ = ' ';
  }
  begins_.push_back(size);
}

}  // namespace ingot
