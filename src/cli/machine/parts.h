// What of the program a build may lack, or a machine may have no use for.
#pragma once

#include <string>
#include <vector>

namespace ingot::cli {

struct Part {
  std::string name;    // "MPI"
  std::string serves;  // what cannot be done without it: "system.backend = mpi"
  bool in_build = false;
  std::string facts = {};    // what it is here, where there is more to say than that it works
  std::string problem = {};  // why it does not work here; empty: it does, if it is in the build
};

// Tried, not looked up: each library is loaded. Never throws.
std::vector<Part> backends();   // of tensors and ranks
std::vector<Part> libraries();  // that are loaded when something needs them

std::string text_of(const Part& part);  // "yes", "not in this build (…)" or "no: …"

}  // namespace ingot::cli
