// What a run that does not fit into memory could change, each change tried on its table.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/resolved_run.h"

namespace ingot {

// Settings that are changed together, and what the run takes with them.
struct MemoryChange {
  std::vector<std::string> settings;  // as --set takes them: "train.recompute=full"
  int64_t needed_bytes = 0;           // of all ranks that share the device
  int64_t gives_bytes = 0;            // less than without the change
  int64_t host_bytes = 0;             // of host memory that a rank of a GPU takes
  bool fits = false;
};

struct MemoryAdvice {
  int64_t needed_bytes = 0, available_bytes = 0;
  bool resumed = false;
  std::vector<MemoryChange> single;    // each by itself, those that give something
  std::vector<MemoryChange> together;  // where none of them fits: the smallest sets that do
  int64_t least_bytes = 0;             // where those do not fit either: needed with all changes
};

// Of a run that does not fit into `available_bytes`. Values are the mildest that fit, or where none
// does the strongest. A resumed run hears of what a resume may change alone.
MemoryAdvice memory_advice(const ResolvedRun& run, int64_t available_bytes, bool resumed);

// "it fits with --set batch.micro_batch=4 (gives 1.2 GB), or with …": what fits, on one line.
std::string sentence_of(const MemoryAdvice& advice);
// Every change that was tried, a line each, and the sentence where no single one fits.
std::string table_of(const MemoryAdvice& advice);
// A list of {"settings", "needed_bytes", "gives_bytes", "host_bytes", "fits"}.
nlohmann::json to_json(const MemoryAdvice& advice);

}  // namespace ingot
