#include "checkpoint/folder.h"

#include <charconv>

#include "checkpoint/models/model_formats.h"
#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {
namespace {

constexpr std::string_view kStep = "step_";
constexpr std::string_view kReplaced = ".replaced";

std::string hidden_path(const std::string& dir, std::string_view ending) {
  return join_path(parent_path(dir), fmt::format(".{}{}", file_name(dir), ending));
}

}  // namespace

std::string step_name(int64_t step) {
  return fmt::format("{}{:08}", kStep, step);
}

std::optional<int64_t> parse_step_name(std::string_view name) {
  if (!name.starts_with(kStep)) return std::nullopt;
  name.remove_prefix(kStep.size());
  if (name.ends_with(kReplaced)) name.remove_suffix(kReplaced.size());
  int64_t step = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), step);
  if (result.ec != std::errc() || result.ptr != name.data() + name.size()) return std::nullopt;
  return step;
}

bool is_leftover_name(std::string_view name) {
  return name.starts_with('.') && name.substr(1).starts_with(kStep);
}

std::string why_no_checkpoint(Storage& storage, const std::string& path) {
  if (!storage.exists(path)) return fmt::format("'{}' does not exist; check the path", path);
  if (const ModelFormat* format = foreign_format_of(storage, path))
    return fmt::format(
        "'{0}' is no checkpoint yet: ingot checkpoint import {0}{1} --out FOLDER makes "
        "one of it",
        path, format->has_tokenizer ? "" : " --tokenizer TOKENIZER");
  if (parse_step_name(file_name(path)))
    return fmt::format(
        "'{}' is incomplete: it has no manifest.json, which is written last; use another "
        "checkpoint",
        path);
  return fmt::format(
      "'{}' is no checkpoint, and holds none that is sound: expected a checkpoint "
      "folder, or a run folder that has one",
      path);
}

std::string temporary_path(const std::string& dir) {
  return hidden_path(dir, ".tmp");
}

void start_folder(Storage& storage, const std::string& dir) {
  const std::string temporary = temporary_path(dir);
  if (storage.exists(temporary)) storage.remove(temporary);
  storage.make_directories(temporary);
}

void publish_folder(Storage& storage, const std::string& dir) {
  const std::string temporary = temporary_path(dir);
  const std::string aside = dir + std::string(kReplaced);
  storage.sync_directory(temporary);
  const bool replaces = storage.exists(dir);
  if (replaces) {
    if (storage.exists(aside)) discard_folder(storage, aside);
    storage.rename(dir, aside);
  }
  try {
    storage.rename(temporary, dir);
  } catch (const Error&) {
    if (replaces) storage.rename(aside, dir);
    throw;
  }
  storage.sync_directory(parent_path(dir));
  try {
    if (storage.exists(aside)) discard_folder(storage, aside);
  } catch (const Error& error) {
    // The new checkpoint stands; the old one is retention's to remove.
    log::warn("checkpoint_not_removed", {{"dir", aside}, {"why", error.what()}});
  }
}

void abandon_folder(Storage& storage, const std::string& dir) noexcept {
  try {
    const std::string temporary = temporary_path(dir);
    if (storage.exists(temporary)) storage.remove(temporary);
  } catch (const std::exception&) {
    // The failure that led here is the one to report; a leftover is hidden and removed later.
  }
}

void discard_folder(Storage& storage, const std::string& dir) {
  const std::string hidden = hidden_path(dir, ".trash");
  if (storage.exists(hidden)) storage.remove(hidden);
  storage.rename(dir, hidden);
  storage.sync_directory(parent_path(dir));
  storage.remove(hidden);
}

}  // namespace ingot
