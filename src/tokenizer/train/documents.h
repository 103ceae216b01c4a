// What a tokenizer is trained on: a stream of documents, or a sample of one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Gives the next document; false at the end. It may be called from any thread, by one at a time.
using NextDocument = std::function<bool(std::string& document)>;

struct SampleLimit {
  int64_t documents = 0;   // 0: no limit
  int64_t characters = 0;  // Unicode characters; 0: no limit
  uint64_t seed = 0;

  bool any() const { return documents > 0 || characters > 0; }
};

// A sample drawn at random over a whole stream, which is read twice: once to draw, once to take.
// Where only characters are limited it consists of stretches of lines, so that a few long documents
// are sampled all over; else of whole documents. It ends at the limit that is reached first, and
// the part in which the characters run out is cut, so that there are exactly as many as asked for.
// The sample is a function of the stream and the limit; memory is 24 bytes for each part in it.
class DocumentSample {
 public:
  // Reads all of `stream`.
  DocumentSample(NextDocument stream, SampleLimit limit);

  // The sample, in the order of the stream; `stream` begins anew and must outlive what is returned.
  NextDocument of(NextDocument stream) const;

 private:
  struct Part {
    uint64_t key;  // random; those with the smallest are the sample
    int64_t number, characters;
    bool operator<(const Part& other) const {
      return key != other.key ? key < other.key : number < other.number;
    }
  };
  NextDocument parts_of(NextDocument stream) const;
  Part part(int64_t number, int64_t characters) const;
  void add(Part part);

  SampleLimit limit_;
  std::vector<Part> heap_;  // the largest key first
  int64_t characters_ = 0;  // of all in it
};

// A byte that is no part of valid UTF-8 counts as it lies: a continuation byte as none.
int64_t count_characters(std::string_view text);

}  // namespace ingot
