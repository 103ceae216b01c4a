// Which settings a run that does not fit into memory could change; each change is tried on the
// run's memory table.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/resolved_run.h"

namespace ingot {

// Settings that are changed together, and the memory that the run then needs.
struct MemoryChange {
  std::vector<std::string> settings;  // as --set takes them: "train.recompute=full"
  int64_t needed_bytes = 0;           // by all ranks that share the device
  int64_t gives_bytes = 0;            // what the change saves
  int64_t host_bytes = 0;             // host memory of a rank that computes on a GPU
  bool fits = false;
};

struct MemoryAdvice {
  int64_t needed_bytes = 0, available_bytes = 0;
  bool resumed = false;
  std::vector<MemoryChange> single;    // changes that save memory by themselves
  std::vector<MemoryChange> together;  // if no single one fits: the smallest sets that fit
  int64_t least_bytes = 0;             // if no set fits: needed with all changes together
};

// For a run that does not fit into `available_bytes`. Each change has the mildest value that fits,
// or the strongest if none fits. For a resumed run, only settings that a resume may change.
MemoryAdvice memory_advice(const ResolvedRun& run, int64_t available_bytes, bool resumed);

// "it fits with --set batch.micro_batch=4 (gives 1.2 GB), or with …": what fits, on one line.
std::string sentence_of(const MemoryAdvice& advice);
// One line for each change that was tried; after them the sentence, if no single change fits.
std::string table_of(const MemoryAdvice& advice);
// A list of {"settings", "needed_bytes", "gives_bytes", "host_bytes", "fits"}.
nlohmann::json to_json(const MemoryAdvice& advice);

}  // namespace ingot
