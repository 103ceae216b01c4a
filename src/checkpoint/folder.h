// Creates and removes checkpoint folders atomically, by renaming.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/storage.h"

namespace ingot {

std::string step_name(int64_t step);  // "step_00000100"
// The step of a complete folder's name; nothing for other names.
std::optional<int64_t> parse_step_name(std::string_view name);
bool is_leftover_name(std::string_view name);  // from an interrupted save or removal

// For a message: what is at `path`, if it is no checkpoint and contains none, and what to do.
std::string why_no_checkpoint(Storage& storage, const std::string& path);

// Where the folder is written before it gets its name: a hidden folder beside it.
std::string temporary_path(const std::string& dir);
// An empty folder at temporary_path(dir).
void start_folder(Storage& storage, const std::string& dir);
// Renames the folder to `dir`, durably. Replaces an existing folder, which stays complete under its
// name or under NAME.replaced until the new one is in place.
void publish_folder(Storage& storage, const std::string& dir);
// After a failure: removes what start_folder() made, as far as the storage allows.
void abandon_folder(Storage& storage, const std::string& dir) noexcept;
// Removes a complete folder so that no half of it is ever listed.
void discard_folder(Storage& storage, const std::string& dir);

}  // namespace ingot
