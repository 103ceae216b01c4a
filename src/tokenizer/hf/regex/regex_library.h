// The interface of the module libingot_regex.so, the only code that links Oniguruma. It is loaded
// when a tokenizer has a pattern without a scanner, so that the program also runs on machines
// without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

inline constexpr char kRegexModule[] = "libingot_regex.so";
inline constexpr char kRegexFunction[] = "ingot_regex_library";

struct RegexMatch {
  size_t begin, end;  // bytes
};

// A compiled pattern. Thread-safe.
class RegexProgram {
 public:
  enum class Outcome { Found, None, Exhausted, Failed };

  // Limits of a call: backtracking steps, and simultaneous backtracking positions.
  struct Effort {
    uint64_t steps;
    uint32_t places;  // about 32 bytes each
  };

  virtual ~RegexProgram() = default;
  // The first match at or after `from`; the engine sees the text before it. `text` is valid UTF-8,
  // `from` is a character boundary. Exhausted: it would take more than `effort`.
  virtual Outcome search(std::string_view text, size_t from, const Effort& effort,
                         RegexMatch& match) const = 0;
  // The match that starts at `from`.
  virtual Outcome match_at(std::string_view text, size_t from, const Effort& effort,
                           RegexMatch& match) const = 0;
};

class RegexLibrary {
 public:
  virtual ~RegexLibrary() = default;
  // Defines \p{name} as these characters: pairs of first and last code point. Call it before
  // compiling a pattern that uses it; names have at most 20 characters.
  virtual bool define_property(const std::string& name, const std::vector<uint32_t>& ranges) = 0;
  // Null and an error text if it is not a pattern. Thread-safe.
  virtual std::unique_ptr<RegexProgram> compile(std::string_view pattern, std::string& error) = 0;
};
using RegexFunction = RegexLibrary*();  // null: Oniguruma cannot be initialised

}  // namespace ingot
