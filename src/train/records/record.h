// What happens in a run, as it happens, and whoever wants to know of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/records/run_records.h"
#include "train/start/run_data.h"

namespace ingot {

// What people are told when a run begins, goes on or rolled back.
struct RunFacts {
  StartReport start;  // the record of it
  std::string run_dir;
  std::string train_data, valid_data;  // one line each
  int64_t parameters = 0;
  int64_t total_steps = 0;
  int64_t total_tokens = 0;
  std::vector<SourceEpochs> epochs;  // of the whole run
  int64_t predicted_bytes = 0;       // of one rank, from the tensor table
  std::string nothing_to_resume;     // of a resume that starts at step 0: why
  int threads = 1;
};

// Takes the records of a run in their order, on rank 0's thread: the ledger, a terminal.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin(const RunFacts&) {}  // before the record of a start
  virtual void take(const RunRecord& record) = 0;
};

}  // namespace ingot
