// How long a rank waits for others before it says that they are lost.
#pragma once

#include "parallel/comm/control.h"

namespace ingot {

struct Deadlines {
  Patience start = std::chrono::minutes(5);        // until all have met and made a communicator
  Patience collective = std::chrono::minutes(10);  // from joining a call, or a meeting, to its end
  Patience save = std::chrono::minutes(30);        // of the meetings of a save
  Patience validation = std::chrono::minutes(30);  // … and of a validation
  Patience silence = std::chrono::minutes(1);      // without a heartbeat of a rank
};

}  // namespace ingot
