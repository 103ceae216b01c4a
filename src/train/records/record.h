// What a run reports while it happens, and to whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/records/run_records.h"
#include "train/start/run_data.h"

namespace ingot {

// What people are shown when a run begins, resumes or has rolled back.
struct RunFacts {
  StartReport start;  // the record of it
  std::string run_dir;
  std::string train_data, valid_data;  // one line each
  int64_t parameters = 0;
  int64_t total_steps = 0;
  int64_t total_tokens = 0;
  std::vector<SourceEpochs> epochs;  // of the whole run
  int64_t predicted_bytes = 0;       // of one rank, from the tensor table
  std::string nothing_to_resume;     // why a resume starts at step 0; empty otherwise
  int threads = 1;
};

// Takes the records of a run in order, on rank 0's thread: the ledger is one, a terminal another.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin(const RunFacts&) {}  // before the record of a start
  virtual void take(const RunRecord& record) = 0;
};

}  // namespace ingot
