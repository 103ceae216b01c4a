// The text of a reply while it is written: never half a character, nothing that may become a stop
// string.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ingot {

class TextStream {
 public:
  // `tokenizer` must outlive it. `first_id`: BOS, if the reply is the beginning of a text, where
  // some formats drop a leading space; else -1.
  explicit TextStream(const Tokenizer& tokenizer, std::vector<std::string> stop_strings = {},
                      int32_t first_id = -1);

  // The text that is certain after this id: valid UTF-8, where U+FFFD stands for bytes that are
  // not. Once a stop string is complete, the text before it, and nothing afterwards.
  std::string add(int32_t id);
  // What was withheld, at the end of a reply.
  std::string finish();
  // Whether a stop string was completed, and which.
  bool is_stopped() const { return !stopped_by_.empty(); }
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  std::string certain(bool at_end);

  const Tokenizer& tokenizer_;
  std::vector<std::string> stops_;
  int32_t first_id_;
  std::string bytes_;  // not decoded yet: the beginning of a character
  std::string text_;   // decoded, withheld
  std::string stopped_by_;
};

}  // namespace ingot
