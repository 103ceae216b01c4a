// What a document says, whatever it is called and wherever it lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct XXH3_state_s;

namespace ingot {

// XXH3-128 of a document's ids as u32, without the BOS before and the EOS after them: equal for
// equal texts under one tokenizer, whatever stands around them and however wide ids are stored.
struct ContentId {
  uint64_t low = 0, high = 0;
  auto operator<=>(const ContentId&) const = default;
};

// Takes a document's ids in parts.
class ContentHasher {
 public:
  ContentHasher(int32_t bos, int32_t eos);  // -1: there is none

  void add(std::span<const int32_t> ids);
  ContentId finish();  // and begins the next document

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };

  int32_t bos_, eos_;
  bool at_begin_ = true;
  bool holds_eos_ = false;  // it may be the last id
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Of the tokens [begin, end), which read(begin, out) gives.
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
