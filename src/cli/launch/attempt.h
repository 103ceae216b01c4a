// Starts all ranks of a run once and waits until all have ended.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command_line.h"
#include "cli/launch/child.h"
#include "cli/launch/hosts.h"

namespace ingot::cli {

struct LaunchPlan {
  std::vector<HostRanks> hosts;
  int ranks = 1;
  std::string program, folder;                   // on every machine
  std::vector<std::string> ssh;                  // command line before the host's name
  std::string address;                           // of rank 0's machine; empty: its host name
  std::map<std::string, std::string> variables;  // of every rank
  std::vector<std::string> args;                 // of the program
};

// How it ended.
struct LaunchEnd {
  Exit exit = Exit::Done;
  std::string why;        // empty: normally, or shown already
  bool asked_to = false;  // a signal ended it
};

// Passes on what the ranks print: rank 0's lines unchanged, those of others after «[3] ». Signals
// go to every rank; `signals` must have INT, TERM, USR1 and USR2. If a rank fails, the others have
// a little time to end by themselves and are then ended. Ranks that these reported as lost are
// killed a second after the others have ended. If all ranks refuse the run for the same reason, it
// is shown once and `why` is empty.
LaunchEnd run_attempt(const LaunchPlan& plan, SignalQueue& signals);

}  // namespace ingot::cli
