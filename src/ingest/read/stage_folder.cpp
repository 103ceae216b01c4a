#include "ingest/read/stage_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error/error.h"
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

bool is_finished(const fs::path& stage) {
  std::error_code error;
  return fs::exists(stage / "report.json", error);
}

[[noreturn]] void refuse_unfinished(const fs::path& named, const fs::path& stage) {
  const std::string where = named == stage ? "it" : stage.string();
  throw Error(ErrorCode::Data,
              fmt::format("{}: the command that writes {} has not finished: run that again to "
                          "resume it, or copy what is there elsewhere and read the copy",
                          named.string(), where));
}

// What a user may have meant by a folder that is none itself.
std::vector<std::string> choices_below(const fs::path& folder, const fs::path& own_output) {
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
    if (!holds_token_shards(it->path()) && !is_same_folder(it->path(), own_output))
      choices.push_back((it->path() / "documents").string());
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

void check_is_finished(const fs::path& path) {
  std::error_code error;
  fs::path below = fs::canonical(path, error);
  for (; !error && below.has_relative_path(); below = below.parent_path()) {
    const fs::path name = below.filename(), stage = below.parent_path();
    const bool is_output = name == "documents" || name == "removed";
    if (is_output && is_stage(stage) && !is_finished(stage)) refuse_unfinished(path, stage);
  }
}

bool is_same_folder(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return !a.empty() && !b.empty() && fs::is_directory(a, error) && fs::equivalent(a, b, error) &&
         !error;
}

fs::path documents_folder(const fs::path& folder, const fs::path& own_output) {
  check(!is_same_folder(folder, own_output), ErrorCode::Usage,
        "{}: an input and --out too: what is written there would be read as input; take another "
        "folder for --out",
        folder.string());
  check(!holds_token_shards(folder), ErrorCode::Data,
        "{}: a folder of token shards: expected documents; ingot data cat decodes them",
        folder.string());
  check_is_finished(folder);
  if (is_stage(folder)) {
    if (!is_finished(folder)) refuse_unfinished(folder, folder);
    return folder / "documents";
  }
  std::vector<std::string> choices = choices_below(folder, own_output);
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
