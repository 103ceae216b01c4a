// A key-value board for small facts between ranks.
#pragma once

#include <string>

#include "parallel/comm/control.h"

namespace ingot {

// A key is posted once per run; await() returns its value to every rank that asks. Thread-safe.
class Board {
 public:
  virtual ~Board() = default;
  virtual void post(const std::string& key, const std::string& value) = 0;
  // Throws ErrorCode::Comm, naming the key at a timeout, or the rank if one is lost.
  virtual std::string await(const std::string& key, Timeout timeout) = 0;
};

}  // namespace ingot
