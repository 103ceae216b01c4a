// Choices that are made by the clock, such as a GEMM's algorithm: all ranks take rank 0's, so that
// they compute alike and are as fast as each other.
#pragma once

#include <optional>
#include <string>

namespace ingot {

class SharedChoices {
 public:
  virtual ~SharedChoices() = default;
  // What rank 0 chose for `what`: may wait for it to choose. Nothing on rank 0 itself, and where
  // rank 0 does not come to it: the rank then chooses by itself.
  virtual std::optional<std::string> ask(const std::string& what) = 0;
  // What was chosen here: the others hear it of rank 0.
  virtual void tell(const std::string& what, const std::string& choice) = 0;
};

}  // namespace ingot
