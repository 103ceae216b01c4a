// Choices made by timing, such as a GEMM's algorithm. All ranks use rank 0's choice, so that they
// compute the same bits at the same speed.
#pragma once

#include <optional>
#include <string>

namespace ingot {

class SharedChoices {
 public:
  virtual ~SharedChoices() = default;
  // Rank 0's choice for `what`; may wait until rank 0 has chosen. Nothing on rank 0 itself, and if
  // rank 0 never makes this choice: the rank then chooses alone.
  virtual std::optional<std::string> ask(const std::string& what) = 0;
  // Publishes the choice made here; other ranks receive rank 0's.
  virtual void tell(const std::string& what, const std::string& choice) = 0;
};

}  // namespace ingot
