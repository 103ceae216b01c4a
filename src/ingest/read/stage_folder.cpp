#include "ingest/read/stage_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "shards/manifest.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostChoices = 10;

bool is_stage(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "stage.json", error) &&
         fs::is_directory(folder / "tasks", error);
}

// What a user may have meant by a folder that is none itself.
std::vector<std::string> choices_below(const fs::path& folder) {
  std::vector<std::string> choices;
  std::error_code error;
  const fs::path documents = folder / "documents", removed = folder / "removed";
  if (fs::is_directory(documents, error) && fs::is_directory(removed, error)) {
    return {documents.string(), removed.string()};
  }
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_directory(error) || !is_stage(it->path())) continue;
    it.disable_recursion_pending();
    if (!holds_token_shards(it->path())) choices.push_back((it->path() / "documents").string());
  }
  std::sort(choices.begin(), choices.end());
  return choices;
}

}  // namespace

bool holds_token_shards(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / kShardManifestName, error)) return false;
  const fs::directory_iterator entries(folder, error);
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".tokens";
  });
}

fs::path documents_folder(const fs::path& folder) {
  std::error_code error;
  check(!holds_token_shards(folder), ErrorCode::Data,
        "{}: a folder of token shards: expected documents; ingot data cat decodes them",
        folder.string());
  if (is_stage(folder)) {
    check(fs::exists(folder / "report.json", error), ErrorCode::Data,
          "{}: the command that writes it has not finished: run that again to go on, or name {} "
          "for what is there",
          folder.string(), (folder / "documents").string());
    return folder / "documents";
  }
  std::vector<std::string> choices = choices_below(folder);
  if (choices.size() > kMostChoices) {
    choices.resize(kMostChoices);
    choices.emplace_back("…");
  }
  check(choices.empty(), ErrorCode::Data,
        "{}: it is not clear which documents of this folder are meant: expected one of {}, or the "
        "files themselves",
        folder.string(), fmt::join(choices, ", "));
  return folder;
}

}  // namespace ingot
