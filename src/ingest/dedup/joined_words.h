// The words of a text joined by single spaces, so that any n consecutive words are one view.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/splitters/splitter.h"

namespace ingot {

class JoinedWords {
 public:
  void assign(const WordList& list);

  size_t num_words() const { return begins_.size() - 1; }
  std::string_view n_gram(size_t first, size_t n) const {
    return {joined_.data() + begins_[first], begins_[first + n] - 1 - begins_[first]};
  }

 private:
  std::string joined_;
  std::vector<size_t> begins_ = {0};  // of each word, and one past the end
};

}  // namespace ingot
