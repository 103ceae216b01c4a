// The training text of a tokenizer: a stream of documents, or a sample of one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Returns the next document; false at the end. Called from any thread, one at a time.
using NextDocument = std::function<bool(std::string& document)>;

struct SampleLimit {
  int64_t documents = 0;   // 0: no limit
  int64_t characters = 0;  // Unicode characters; 0: no limit
  uint64_t seed = 0;

  bool any() const { return documents > 0 || characters > 0; }
};

// A random sample over a whole stream, which is read twice: once to draw, once to take. If only
// characters are limited, it consists of stretches of lines, so that a few long documents are
// sampled throughout; else of whole documents. It ends at the first limit reached, and the last
// part is cut so that the number of characters is exact. The sample depends only on the stream and
// the limit. Memory: 24 bytes per part of the sample.
class DocumentSample {
 public:
  // Reads all of `stream`.
  DocumentSample(NextDocument stream, SampleLimit limit);

  // The sample in stream order; `stream` starts again and must outlive the result.
  NextDocument of(NextDocument stream) const;

 private:
  struct Part {
    uint64_t key;  // random; the smallest keys form the sample
    int64_t number, characters;
    bool operator<(const Part& other) const {
      return key != other.key ? key < other.key : number < other.number;
    }
  };
  NextDocument parts_of(NextDocument stream) const;
  Part part(int64_t number, int64_t characters) const;
  void add(Part part);

  SampleLimit limit_;
  std::vector<Part> heap_;  // largest key first
  int64_t characters_ = 0;  // of all parts in the heap
};

// Bytes that are not valid UTF-8 count by their value alone: continuation bytes count as none.
int64_t count_characters(std::string_view text);

}  // namespace ingot
