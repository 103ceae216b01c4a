// How long a rank waits for others before it declares them lost.
#pragma once

#include "parallel/comm/control.h"

namespace ingot {

struct Deadlines {
  Timeout start = std::chrono::minutes(5);        // to connect and make a communicator
  Timeout collective = std::chrono::minutes(10);  // for a call, or a host-plane round
  Timeout save = std::chrono::minutes(30);        // for the rounds of a save
  Timeout validation = std::chrono::minutes(30);  // for the rounds of a validation
  Timeout silence = std::chrono::minutes(1);      // without a heartbeat of a rank
};

}  // namespace ingot
