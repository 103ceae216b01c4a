// Identifies a document by its content, whatever its name and place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct XXH3_state_s;

namespace ingot {

// XXH3-128 of a document's ids as u32, without the BOS before and the EOS after them. Equal for
// equal texts under one tokenizer, whatever surrounds them and whatever the width of stored ids.
struct ContentId {
  uint64_t low = 0, high = 0;
  auto operator<=>(const ContentId&) const = default;
};

// Hashes a document's ids in parts.
class ContentHasher {
 public:
  ContentHasher(int32_t bos, int32_t eos);  // -1: none

  void add(std::span<const int32_t> ids);
  ContentId finish();  // and starts the next document

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };

  int32_t bos_, eos_;
  bool at_begin_ = true;
  bool holds_eos_ = false;  // held back: it may be the last id
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Hashes the tokens [begin, end), which read(begin, out) returns.
template <class Read>
ContentId content_of(int64_t begin, int64_t end, int32_t bos, int32_t eos, const Read& read) {
  constexpr int64_t kAtOnce = int64_t{1} << 16;
  ContentHasher content(bos, eos);
  std::vector<int32_t> ids;
  for (int64_t at = begin; at < end; at += kAtOnce) {
    ids.resize(static_cast<size_t>(std::min(kAtOnce, end - at)));
    read(at, std::span(ids));
    content.add(ids);
  }
  return content.finish();
}

}  // namespace ingot
