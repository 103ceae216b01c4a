// Keeps a checkpoint while another process reads it.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// The file "NAME.hold" beside the checkpoint `dir`. While it exists, retention does not remove the
// checkpoint.
std::string hold_path(const std::string& dir);

// Holds a checkpoint while it lives. A killed process leaves its hold file; the next CheckpointHold
// of this checkpoint removes it when it ends.
class CheckpointHold {
 public:
  CheckpointHold(std::shared_ptr<Storage> storage, std::string dir);
  ~CheckpointHold();
  CheckpointHold(const CheckpointHold&) = delete;
  CheckpointHold& operator=(const CheckpointHold&) = delete;

  // Whether the checkpoint still existed after the hold was taken.
  bool is_there() const { return is_there_; }

 private:
  std::shared_ptr<Storage> storage_;
  std::string path_;
  bool is_there_;
};

}  // namespace ingot
