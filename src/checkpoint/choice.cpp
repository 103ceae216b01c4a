#include "checkpoint/choice.h"

#include <utility>

#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

CheckpointChoice::CheckpointChoice(std::shared_ptr<Storage> storage, std::string path,
                                   std::vector<std::string> candidates)
    : storage_(std::move(storage)), path_(std::move(path)), candidates_(std::move(candidates)) {}

CheckpointChoice::CheckpointChoice(std::shared_ptr<Storage> storage, std::string path)
    : CheckpointChoice(storage, path,
                       storage->exists(join_path(path, kManifestName))
                           ? std::vector{path}
                           : list_step_folders(*storage, path)) {}

CheckpointChoice CheckpointChoice::of_run(std::shared_ptr<Storage> storage, std::string run_dir) {
  return {storage, run_dir, list_step_folders(*storage, run_dir)};
}

const CheckpointReader* CheckpointChoice::readable() {
  while (!reader_ && !candidates_.empty()) {
    try {
      reader_.emplace(storage_, candidates_.back());
    } catch (const Error& error) {
      pass_over(error);
    }
  }
  return reader_ ? &*reader_ : nullptr;
}

const CheckpointReader* CheckpointChoice::good() {
  while (!verified_ && readable() != nullptr) {
    try {
      reader_->verify();
      verified_ = true;
    } catch (const Error& error) {
      pass_over(error);
    }
  }
  return verified_ ? &*reader_ : nullptr;
}

const CheckpointReader& CheckpointChoice::use() {
  const CheckpointReader* chosen = good();
  for (const auto& [dir, why] : passed_over_)
    if (dir != path_)  // of the only one its error says it
      log::warn("checkpoint_passed_over",
                {{"dir", dir}, {"why", why}, {"used", chosen ? chosen->info().dir : "none"}});
  if (chosen == nullptr) throw none();
  return *chosen;
}

Error CheckpointChoice::none() const {
  const bool is_one = !passed_over_.empty() && passed_over_[0].dir == path_;
  return Error(ErrorCode::Data, is_one ? passed_over_[0].why : why_no_checkpoint(*storage_, path_));
}

void CheckpointChoice::pass_over(const Error& error) {
  passed_over_.push_back({candidates_.back(), error.what()});
  candidates_.pop_back();
  reader_.reset();
}

}  // namespace ingot
