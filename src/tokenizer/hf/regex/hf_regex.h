// Regular expressions as Hugging Face tokenizers has them: Oniguruma's, with Unicode 16's general
// categories, and with bounds.
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
  // Throws ErrorCode::Data, naming `origin`, on what is not a pattern or could not be bounded, and
  // ErrorCode::Missing where the engine is not there.
  HfRegex(const std::string& pattern, std::string_view origin);

  // Each match in order, as Hugging Face walks over a text: after an empty match the next begins a
  // character later. `text` is valid UTF-8. The time is linear in its size: throws ErrorCode::Data
  // where the pattern would take more.
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
