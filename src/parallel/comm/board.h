// Small facts that ranks leave for each other.
#pragma once

#include <string>

#include "parallel/comm/control.h"

namespace ingot {

// A value is posted once, under a key of this run; whoever awaits it gets it. Thread-safe.
class Board {
 public:
  virtual ~Board() = default;
  virtual void post(const std::string& key, const std::string& value) = 0;
  // Throws ErrorCode::Comm, naming the key, when patience ends, and when a rank is lost, naming
  // that.
  virtual std::string await(const std::string& key, Patience patience) = 0;
};

}  // namespace ingot
