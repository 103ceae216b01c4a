#include "cli/frame/output_file.h"

#include <filesystem>

#include "core/error/error.h"
#include "core/storage/storage.h"

namespace ingot::cli {

Option* OutputFile::add_to(Command& command, const std::string& name, const std::string& help) {
  name_ = name;
  Option* option = command.add_option(name, path_, help);
  command.add_flag("--force", force_, "replace an existing file");
  return option;
}

void OutputFile::check_free(const std::vector<std::string>& files) const {
  for (const std::string& file : files) {
    std::error_code none;  // a path that cannot be looked at: writing says best what is wrong
    const auto there = std::filesystem::status(file, none);
    if (!std::filesystem::exists(there) || is_pipe_or_device(file)) continue;
    check(!std::filesystem::is_directory(there), ErrorCode::Usage,
          "{} {}: '{}' is a folder; expected the name of a file", name_, path_, file);
    check(force_, ErrorCode::Usage,
          "'{}' exists: give {} another name, or replace the file with --force", file, name_);
  }
}

void OutputFile::write(const std::string& file, std::string_view contents) const {
  check_free({file});
  const auto storage = posix_storage();
  if (!is_pipe_or_device(file)) return write_file_atomically(*storage, file, contents);
  const auto out = storage->create(file);
  out->append(std::as_bytes(std::span(contents)));
  out->close();
}

}  // namespace ingot::cli
