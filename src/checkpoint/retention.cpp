#include <algorithm>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "checkpoint/choice.h"
#include "checkpoint/folder.h"
#include "checkpoint/hold.h"
#include "checkpoint/manifest.h"
#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {
namespace {

bool is_checkpoint(Storage& storage, const std::string& dir) {
  return storage.exists(join_path(dir, kManifestName));
}

bool is_file(Storage& storage, const std::string& path) {
  try {
    storage.open(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> list_step_folders(Storage& storage, const std::string& run_dir) {
  if (!storage.exists(run_dir) || is_file(storage, run_dir)) return {};
  // By step; of one step, the folder being replaced before the one that replaces it.
  std::vector<std::pair<std::pair<int64_t, bool>, std::string>> found;
  for (const std::string& name : storage.list(run_dir)) {
    const std::optional<int64_t> step = parse_step_name(name);
    const std::string dir = join_path(run_dir, name);
    if (!step || is_file(storage, dir)) continue;
    found.push_back({{*step, name == step_name(*step)}, dir});
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> dirs;
  for (auto& [order, dir] : found) dirs.push_back(std::move(dir));
  return dirs;
}

std::vector<std::string> list_checkpoints(Storage& storage, const std::string& run_dir) {
  std::vector<std::string> dirs = list_step_folders(storage, run_dir);
  std::erase_if(dirs, [&](const std::string& dir) { return !is_checkpoint(storage, dir); });
  return dirs;
}

void retain_checkpoints(std::shared_ptr<Storage> storage, const std::string& run_dir,
                        int64_t keep) {
  check(keep >= 1, ErrorCode::Config, "checkpoint.keep: expected at least 1, got {}", keep);
  if (!storage->exists(run_dir)) return;
  for (const std::string& name : storage->list(run_dir)) {
    if (is_leftover_name(name)) storage->remove(join_path(run_dir, name));
  }
  const std::vector<std::string> dirs = list_checkpoints(*storage, run_dir);
  const int64_t surplus = static_cast<int64_t>(dirs.size()) - keep;
  if (surplus <= 0) return;
  CheckpointChoice choice = CheckpointChoice::of_run(storage, run_dir);
  const CheckpointReader* good = choice.good();
  for (const auto& [dir, why] : choice.passed_over())
    if (is_checkpoint(*storage, dir)) log::warn("checkpoint_damaged", {{"dir", dir}, {"why", why}});
  for (int64_t i = 0; i < surplus; ++i) {
    const std::string& dir = dirs[static_cast<size_t>(i)];
    const bool is_held = storage->exists(hold_path(dir));
    if (!is_held && (good == nullptr || dir != good->info().dir)) discard_folder(*storage, dir);
  }
}

}  // namespace ingot
