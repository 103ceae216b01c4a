// Which checkpoint is used: the newest good one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace ingot {

// The checkpoints at a path, of which one is chosen. Each manifest is read at most once.
class CheckpointChoice {
 public:
  // A folder of a step that is newer than the choice and is no good one: damaged, or without a
  // manifest, so that a part of it was lost.
  struct PassedOver {
    std::string dir, why;
  };

  // `path`: a run folder, or a checkpoint, which then is the only one.
  CheckpointChoice(std::shared_ptr<Storage> storage, std::string path);
  static CheckpointChoice of_run(std::shared_ptr<Storage> storage, std::string run_dir);

  // The newest whose manifest can be read, which says all but the numbers; null: there is none.
  const CheckpointReader* readable();
  // The newest that verifies, whose files are all read for that, once; null: there is none.
  const CheckpointReader* good();
  // The same, with a warning of what was passed over. Throws ErrorCode::Data, saying what is at the
  // path, where there is none.
  const CheckpointReader& use();

  const std::vector<PassedOver>& passed_over() const { return passed_over_; }  // the newest first
  // Why there is none.
  Error none() const;

 private:
  CheckpointChoice(std::shared_ptr<Storage> storage, std::string path,
                   std::vector<std::string> candidates);
  void pass_over(const Error& error);

  std::shared_ptr<Storage> storage_;
  std::string path_;
  std::vector<std::string> candidates_;  // oldest first
  std::vector<PassedOver> passed_over_;
  std::optional<CheckpointReader> reader_;  // of the last candidate
  bool verified_ = false;                   // that one
};

}  // namespace ingot
