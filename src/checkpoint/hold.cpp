#include "checkpoint/hold.h"

#include "checkpoint/manifest.h"
#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

std::string hold_path(const std::string& dir) {
  return dir + ".hold";
}

CheckpointHold::CheckpointHold(std::shared_ptr<Storage> storage, std::string dir)
    : storage_(std::move(storage)), path_(hold_path(dir)) {
  storage_->create(path_)->close();
  is_there_ = storage_->exists(join_path(dir, kManifestName));
}

CheckpointHold::~CheckpointHold() {
  try {
    storage_->remove(path_);
  } catch (const Error& error) {
    log::warn("hold_not_removed", {{"file", path_}, {"why", error.what()}});
  }
}

}  // namespace ingot
