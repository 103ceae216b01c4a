// How a checkpoint folder comes and goes: whole, by renaming.
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
bool is_leftover_name(std::string_view name);  // of a save or a removal that was interrupted

// For a message: what `path` is, where it is no checkpoint and holds none, and what to do.
std::string why_no_checkpoint(Storage& storage, const std::string& path);

// Where the folder is written before it gets its name; hidden, beside it.
std::string temporary_path(const std::string& dir);
// An empty folder at temporary_path(dir).
void start_folder(Storage& storage, const std::string& dir);
// Gives it its name, durably. A folder of that name is replaced: until the new one stands, the old
// one stays complete under its name or under NAME.replaced.
void publish_folder(Storage& storage, const std::string& dir);
// Removes what start_folder() left after a failure, as far as the storage lets it.
void abandon_folder(Storage& storage, const std::string& dir) noexcept;
// Removes a complete folder so that no half of it is ever listed.
void discard_folder(Storage& storage, const std::string& dir);

}  // namespace ingot
