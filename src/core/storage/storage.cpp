#include "core/storage/storage.h"

#include <filesystem>

#include "core/error/error.h"

namespace ingot {

std::string read_text(Storage& storage, const std::string& path) {
  const auto file = storage.open(path);
  std::string text(static_cast<size_t>(file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void write_file_atomically(Storage& storage, const std::string& path, std::string_view contents) {
  const std::string aside = path + ".tmp";
  try {
    const auto file = storage.create(aside);
    file->append(std::as_bytes(std::span(contents)));
    file->sync();
    file->close();
    storage.rename(aside, path);
  } catch (const Error&) {
    try {
      if (storage.exists(aside)) storage.remove(aside);
    } catch (const Error&) {
      // The first failure is the one worth reporting; the leftover is overwritten next time.
    }
    throw;
  }
  storage.sync_directory(parent_path(path));
}

bool is_pipe_or_device(const std::string& path) {
  std::error_code none;
  const auto there = std::filesystem::status(path, none);
  return std::filesystem::exists(there) && std::filesystem::is_other(there);
}

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  return path.append(name);
}

std::string parent_path(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string file_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace ingot
