// One start of all ranks of a run, until all have ended.
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
  std::vector<std::string> ssh;                  // the words before the host's name
  std::string address;                           // of rank 0's machine; empty: as hosts call it
  std::map<std::string, std::string> variables;  // of every rank
  std::vector<std::string> args;                 // of the program
};

// How it ended.
struct LaunchEnd {
  Exit exit = Exit::Done;
  std::string why;        // empty: as it should
  bool asked_to = false;  // by a signal
};

// Ranks are started, their lines passed on, rank 0's as they are and the others' with «[3] » before
// them; signals go to every rank. When one fails the others have a little time to end by themselves
// and are then ended; ranks that those have lost are killed a second after they have ended. What
// all ranks refuse for the same reason is shown once, and `why` is then empty. `signals` has INT,
// TERM, USR1 and USR2.
LaunchEnd run_attempt(const LaunchPlan& plan, SignalQueue& signals);

}  // namespace ingot::cli
