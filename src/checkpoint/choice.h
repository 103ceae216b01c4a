// Chooses which checkpoint to use: the newest good one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace ingot {

// Chooses among the checkpoints at a path. Each manifest is read at most once.
class CheckpointChoice {
 public:
  // A step folder that is newer than the chosen one but unusable: damaged, or without a manifest
  // because files were lost.
  struct PassedOver {
    std::string dir, why;
  };

  // `path`: a run folder, or a single checkpoint.
  CheckpointChoice(std::shared_ptr<Storage> storage, std::string path);
  static CheckpointChoice of_run(std::shared_ptr<Storage> storage, std::string run_dir);

  // The newest checkpoint whose manifest can be read; its weights are not checked. Null: none.
  const CheckpointReader* readable();
  // The newest checkpoint that verifies; all its files are read for this, once. Null: none.
  const CheckpointReader* good();
  // The same, with a warning about newer folders that were passed over. If there is none, throws
  // ErrorCode::Data that says what is at the path.
  const CheckpointReader& use();

  const std::vector<PassedOver>& passed_over() const { return passed_over_; }  // the newest first
  // An error that says why there is no checkpoint.
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
  bool verified_ = false;                   // whether reader_ was verified
};

}  // namespace ingot
