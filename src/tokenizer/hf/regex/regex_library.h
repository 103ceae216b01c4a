// What the module libingot_regex.so offers: the only code that links Oniguruma. It is loaded when a
// tokenizer has a pattern that we have no scanner for, so that the program starts without it, and
// on machines that do not have it.
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

  // How much a call may do: steps back, and places to step back to at the same time.
  struct Effort {
    uint64_t steps;
    uint32_t places;  // some 32 bytes each
  };

  virtual ~RegexProgram() = default;
  // The first match that begins at `from` or later; what stands before is seen. `text` is valid
  // UTF-8, `from` is the boundary of a character. Exhausted: it would take more than `effort`.
  virtual Outcome search(std::string_view text, size_t from, const Effort& effort,
                         RegexMatch& match) const = 0;
  // The match that begins at `from`.
  virtual Outcome match_at(std::string_view text, size_t from, const Effort& effort,
                           RegexMatch& match) const = 0;
};

class RegexLibrary {
 public:
  virtual ~RegexLibrary() = default;
  // From then on, \p{name} is these characters: pairs of first and last code point. Before the
  // first pattern that is to know it; of at most 20 names.
  virtual bool define_property(const std::string& name, const std::vector<uint32_t>& ranges) = 0;
  // Null, and what is wrong: not a pattern. Thread-safe.
  virtual std::unique_ptr<RegexProgram> compile(std::string_view pattern, std::string& error) = 0;
};
using RegexFunction = RegexLibrary*();  // null: Oniguruma cannot be set up

}  // namespace ingot
