// A backend under test of which this process is one rank; tests/parallel/run_ranks.py starts it.
#pragma once

#include <cstdlib>
#include <string>

#include "parallel/comm/process/process_world.h"
#include "parallel/communicator_conformance.h"

namespace ingot::test {

inline int variable(const char* name, int otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

// Short: a test that goes wrong ends soon.
inline Deadlines short_deadlines() {
  Deadlines deadlines;
  deadlines.start = std::chrono::seconds(30);
  deadlines.collective = deadlines.save = deadlines.validation = std::chrono::seconds(20);
  deadlines.silence = std::chrono::seconds(20);
  return deadlines;
}

// `rendezvous` is asked before every world, of which a test may have several.
inline Backend process_backend(CommBackend kind, Process process, const Abilities& can,
                               const std::function<std::string()>& rendezvous) {
  const auto run = [=](const Body& body, const LaneDelay& delay) {
    Process own = process;
    own.rendezvous = rendezvous();
    rank_launcher(own, {.backend = kind, .deadlines = short_deadlines(), .delay = delay})
        ->run(body);
  };
  return {std::to_string(process.world), process.world, process.device, run, can, process.rank};
}

}  // namespace ingot::test
