// The only error type. Libraries throw it; only cli turns it into an exit code.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class ErrorCode {
  Usage,     // the user asked for something impossible: exit code 2
  Config,    // a setting is wrong, or settings contradict each other
  Data,      // input is missing, damaged or of another kind than declared
  Storage,   // the file system refused
  Memory,    // out of memory
  Numeric,   // NaN, infinity, divergence
  Comm,      // another rank failed or did not answer
  Device,    // a device call failed
  Missing,   // this build or machine lacks the backend
  Internal,  // a bug in this program
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message,
        std::source_location place = std::source_location::current());

  ErrorCode code() const { return code_; }
  int rank() const { return rank_; }  // -1: not bound to a rank
  std::string place() const;          // "ops/matmul.cpp:42"
  // Call stack of a Comm error where it was created: it shows where a rank waited for another
  // (core/error/stack.h). Empty for other errors.
  const std::vector<void*>& stack() const { return stack_; }
  Error& on_rank(int rank) {
    rank_ = rank;
    return *this;
  }
  // The same error with the work it occurred in: "WORK: MESSAGE".
  Error during(std::string_view work) const;

 private:
  ErrorCode code_;
  int rank_ = -1;
  std::source_location place_;
  std::vector<void*> stack_;
};

std::string_view name_of(ErrorCode code);

// check(ok, code, "heads must divide dim: expected a divisor of {}, got {}", dim, heads):
// the message is formatted only on failure.
template <class... Args>
struct check {
  check(bool ok, ErrorCode code, fmt::format_string<Args...> text, Args&&... args,
        std::source_location place = std::source_location::current()) {
    if (!ok) [[unlikely]]
      throw Error(code, fmt::format(text, std::forward<Args>(args)...), place);
  }
};
template <class... Args>
check(bool, ErrorCode, fmt::format_string<Args...>, Args&&...) -> check<Args...>;

}  // namespace ingot

// Types that describe themselves (Tensor, Shape, Device) are formatted through str(), and only when
// a message is made. Passing x.str() to check() would build the text on every call.
template <class T>
requires requires(const T& t) {
  { t.str() } -> std::same_as<std::string>;
}
struct fmt::formatter<T> : fmt::formatter<std::string> {
  template <class FormatContext>
  auto format(const T& value, FormatContext& context) const {
    return fmt::formatter<std::string>::format(value.str(), context);
  }
};
