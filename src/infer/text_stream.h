// The text of a reply while it is written. It never gives out half a character, or text that may
// still become a stop string.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ingot {

class TextStream {
 public:
  // `tokenizer` must outlive it. `first_id`: BOS if the reply begins a text, where some tokenizers
  // drop a leading space; else -1.
  explicit TextStream(const Tokenizer& tokenizer, std::vector<std::string> stop_strings = {},
                      int32_t first_id = -1);

  // The text that this id makes certain: valid UTF-8, with U+FFFD for bytes that are not. The call
  // that completes a stop string gives the text before it; later calls give nothing.
  std::string add(int32_t id);
  // At the end of a reply: the text that was withheld.
  std::string finish();
  // Whether a stop string was completed, and which.
  bool is_stopped() const { return !stopped_by_.empty(); }
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  std::string certain(bool at_end);

  const Tokenizer& tokenizer_;
  std::vector<std::string> stops_;
  int32_t first_id_;
  std::string bytes_;  // not decoded yet: an incomplete character
  std::string text_;   // decoded but withheld
  std::string stopped_by_;
};

}  // namespace ingot
