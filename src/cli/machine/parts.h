// Parts of the program that a build may lack, or that may not work on a machine.
#pragma once

#include <string>
#include <vector>

namespace ingot::cli {

struct Part {
  std::string name;    // "MPI"
  std::string serves;  // what needs it: "system.backend = mpi"
  bool in_build = false;
  std::string facts = {};    // details, if there are any
  std::string problem = {};  // why it does not work here; empty if it works
};

// Each library is really loaded to try it. Never throws.
std::vector<Part> backends();   // of tensors and ranks
std::vector<Part> libraries();  // loaded when something needs them

std::string text_of(const Part& part);  // "yes", "not in this build (…)" or "no: …"

}  // namespace ingot::cli
