// Keeps a checkpoint while another process reads it.
#pragma once

#include <memory>
#include <string>

#include "core/storage/storage.h"

namespace ingot {

// The file whose presence keeps retention from removing the checkpoint `dir`: beside it,
// "NAME.hold".
std::string hold_path(const std::string& dir);

// Holds a checkpoint while it lives. A process that is killed leaves its hold, which the next
// CheckpointHold of this checkpoint removes in the end.
class CheckpointHold {
 public:
  CheckpointHold(std::shared_ptr<Storage> storage, std::string dir);
  ~CheckpointHold();
  CheckpointHold(const CheckpointHold&) = delete;
  CheckpointHold& operator=(const CheckpointHold&) = delete;

  // Whether the checkpoint was still there once it was held.
  bool is_there() const { return is_there_; }

 private:
  std::shared_ptr<Storage> storage_;
  std::string path_;
  bool is_there_;
};

}  // namespace ingot
