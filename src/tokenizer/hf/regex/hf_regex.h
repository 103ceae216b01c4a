// Regular expressions as in Hugging Face tokenizers: Oniguruma's, with Unicode 16's general
// categories, and with limits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tokenizer/hf/regex/regex_library.h"

namespace ingot {

// Thread-safe.
class HfRegex {
 public:
  // Throws ErrorCode::Data, naming `origin`, if it is not a pattern or its cost cannot be bounded,
  // and ErrorCode::Missing if the regex engine is not installed.
  HfRegex(const std::string& pattern, std::string_view origin);

  // Visits all matches in order, as Hugging Face does: after an empty match the search continues
  // one character later. `text` is valid UTF-8. Takes linear time: throws ErrorCode::Data if the
  // pattern would take more.
  using Visit = std::function<void(const RegexMatch&)>;
  void for_each_match(std::string_view text, const Visit& visit) const;

 private:
  struct Budget;
  bool search(std::string_view text, size_t from, Budget& budget, RegexMatch& match) const;
  template <class Call>
  bool run(const Call& call, std::string_view text, size_t from, Budget& budget) const;
  [[noreturn]] void refuse(std::string_view text, size_t at) const;

  std::string pattern_, origin_;
  bool hides_steps_;
  std::unique_ptr<RegexProgram> program_;
};

}  // namespace ingot
