// The pattern of Split and Replace: a string or a regular expression.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/bpe/split.h"
#include "tokenizer/hf/regex/hf_regex.h"

namespace ingot {

// Thread-safe, and cheap to copy.
class HfPattern {
 public:
  // {"String": …} or {"Regex": …}. Published patterns with a scanner need no regex engine. Throws
  // ErrorCode::Data, naming `what` and `origin`; otherwise as HfRegex does.
  HfPattern(const nlohmann::json& pattern, std::string_view what, std::string_view origin);
  explicit HfPattern(Split split) : split_(split) {}

  void for_each_match(std::string_view text, const HfRegex::Visit& visit) const;
  // Returns the text that was replaced at the beginning.
  std::string replace(std::string& text, std::string_view content) const;

  const std::string& string() const { return string_; }  // empty: a regular expression

 private:
  std::string string_;
  bool is_string_ = false;
  std::optional<Split> split_;
  std::shared_ptr<const HfRegex> regex_;
};

}  // namespace ingot
