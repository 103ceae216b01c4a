#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "ingest/read/byte_stream.h"
#include "ingest/read/listed_files.h"
#include "ingest/read/remote/remote.h"
#include "ingest/read/stage_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().native().starts_with('.');
}

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

InputFile local_file(const fs::path& path, const fs::path& below) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  const std::string name = path == below ? path.filename() : path.lexically_relative(below);
  return {path.string(), name, error ? -1 : static_cast<int64_t>(bytes)};
}

// What it is, if it is not read.
std::string not_read(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.is_directory(error))
    return holds_token_shards(entry.path()) ? "folders of token shards"
           : entry.is_symlink(error)        ? "links to folders"
                                            : "";
  if (!entry.exists(error)) return "links to nothing";
  if (!entry.is_regular_file(error)) return "of no regular kind";
  return left_out_as(entry.path().native());
}

ListedFiles list_folder(const fs::path& folder, const fs::path& own_output) {
  ListedFiles listed;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const bool hidden = is_hidden(it->path()) || is_same_folder(it->path(), own_output);
    const std::string what = hidden ? "" : not_read(*it);
    if (!what.empty()) ++listed.left_out[what];
    if (hidden || !what.empty())
      it.disable_recursion_pending();
    else if (it->is_regular_file())
      listed.files.push_back(local_file(it->path(), folder));
  }
  check(!error, ErrorCode::Storage, "{}: cannot list the folder: {}", folder.string(),
        error.message());
  return listed;
}

// A stage's folder stands for its documents: others that lie in it are not read.
LeftOut documents_beside(const fs::path& stage) {
  LeftOut beside;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(stage, error)) {
    const FileKind kind = file_kind(entry.path());
    const std::string name = entry.path().filename();
    if (is_hidden(entry.path()) || !entry.is_regular_file(error) || name == "stage.json" ||
        name == "report.json" || !is_readable_kind(kind.kind))
      continue;
    ++beside[kind.kind + kind.compression + " beside its documents"];
  }
  return beside;
}

// Files below `folder` that match the components [first, last): "**" stands for any number of
// folders, the rest for one name each, as in a shell.
using Component = fs::path::const_iterator;
void match(const fs::path& folder, Component first, Component last, std::set<fs::path>& found) {
  const fs::path& pattern = *first;
  const Component rest = std::next(first);
  if (pattern == "**" && rest != last) match(folder, rest, last, found);
  std::error_code error;
  if (!is_pattern(pattern.native())) {
    const fs::path path = folder / pattern;
    if (rest != last) {
      if (fs::is_directory(path, error)) match(path, rest, last, found);
    } else if (fs::is_regular_file(path, error)) {
      found.insert(path);
    }
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const fs::path path = folder / entry.path().filename();
    if (is_hidden(path) && !pattern.native().starts_with('.')) continue;
    if (pattern == "**") {
      if (entry.is_directory() && !entry.is_symlink()) {
        match(path, first, last, found);
      } else if (rest == last && entry.is_regular_file()) {
        found.insert(path);
      }
    } else if (fnmatch(pattern.c_str(), path.filename().c_str(), 0) == 0) {
      if (rest == last && entry.is_regular_file()) found.insert(path);
      if (rest != last && entry.is_directory()) match(path, rest, last, found);
    }
  }
}

void list_pattern(const fs::path& pattern, std::vector<InputFile>& files) {
  fs::path folder;
  auto component = pattern.begin();
  while (!is_pattern(component->native())) folder /= *component++;
  std::set<fs::path> found;
  match(folder, component, pattern.end(), found);
  for (const fs::path& path : found) {
    files.push_back(local_file(path, folder));
    if (folder.empty()) files.back().name = path.string();
  }
}

// A file that was fetched before is read as it was then, whatever the server has now.
void say_what_is_cached(const std::vector<InputFile>& files, const RemoteSettings& remote) {
  const auto cached = std::count_if(files.begin(), files.end(), [&](const InputFile& file) {
    return !never_changes(file.location) && !cached_copy(file.location, remote).empty();
  });
  if (cached == 0) return;
  log::info("read_from_cache",
            {{"files", format_count(cached)},
             {"cache", remote.cache_folder},
             {"why",
              "they were fetched before; the server may have others by now, which --cache "
              "\"\" reads"}});
}

std::vector<InputFile> list_location(const std::string& location, const RemoteSettings& remote,
                                     const fs::path& own_output) {
  ListedFiles listed;
  std::vector<InputFile>& files = listed.files;
  std::error_code error;
  const fs::path path = fs::path(location).lexically_normal();
  if (is_remote(location)) {
    listed = list_remote(location, remote);
    check(!files.empty(), ErrorCode::Data, "{}: no documents there; expected files as {}, got {}",
          location, readable_kinds(), list_of(listed.left_out));
    for (const InputFile& file : files) {  // names become paths of what is written
      const fs::path name(file.name);
      check(std::find(name.begin(), name.end(), "..") == name.end(), ErrorCode::Data,
            "{}: a file's name leads out of its folder", file.location);
    }
    say_what_is_cached(files, remote);
  } else if (fs::is_directory(path, error)) {
    const fs::path documents = documents_folder(path, own_output);
    listed = list_folder(documents, own_output);
    if (documents != path) listed.left_out.merge(documents_beside(path));
    check(!files.empty(), ErrorCode::Data,
          "{}: no documents in this folder; expected files as .txt, .jsonl, .parquet, …, got {}",
          location, list_of(listed.left_out));
  } else if (fs::exists(path, error)) {
    files.push_back(local_file(path, path));
  } else if (is_pattern(location)) {
    list_pattern(path, files);
    check(!files.empty(), ErrorCode::Data, "{}: no file matches this pattern", location);
  } else {
    throw Error(ErrorCode::Data, location + ": no such file or folder");
  }
  if (!listed.left_out.empty())
    log::warn("left_out", {{"folder", location}, {"files", list_of(listed.left_out)}});
  std::sort(files.begin(), files.end(),
            [](const InputFile& a, const InputFile& b) { return a.name < b.name; });
  return files;
}

// A file of a stage that was killed is read as if the others were not missing.
void check_stages_are_finished(const std::vector<InputFile>& files) {
  std::set<fs::path> looked_at;
  for (const InputFile& file : files) {
    if (is_remote(file.location)) continue;
    const fs::path path = file.location;
    std::error_code error;
    const fs::path place = fs::is_symlink(path, error) ? path : path.parent_path();
    if (looked_at.insert(place).second) check_is_finished(place.empty() ? "." : place);
  }
}

bool names_are_unique(const std::vector<InputFile>& files) {
  std::set<std::string_view> names;
  return std::all_of(files.begin(), files.end(),
                     [&](const InputFile& file) { return names.insert(file.name).second; });
}

}  // namespace

std::string left_out_as(const std::string& name) {
  const FileKind kind = file_kind(name);
  if (is_readable_kind(kind.kind)) return "";
  const std::string ending = kind.kind + kind.compression;
  return ending.empty() ? "without an ending" : ending;
}

std::string list_of(const LeftOut& left_out) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : left_out)
    parts.push_back(fmt::format("{} {}", format_count(count), what));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<InputFile> list_input_files(const std::vector<std::string>& locations,
                                        const RemoteSettings& remote,
                                        const std::string& own_output) {
  std::vector<InputFile> files;
  std::vector<size_t> location_of;
  std::set<std::string> seen;
  for (size_t i = 0; i < locations.size(); ++i) {
    for (InputFile& file : list_location(locations[i], remote, own_output)) {
      check(seen.insert(file.location).second, ErrorCode::Data,
            "{}: named twice among the inputs; its documents would be read twice", file.location);
      file.input = locations[i];
      files.push_back(std::move(file));
      location_of.push_back(i);
    }
  }
  check_stages_are_finished(files);
  if (!names_are_unique(files)) {
    for (size_t i = 0; i < files.size(); ++i) {
      files[i].name = std::to_string(location_of[i]) + "/" + files[i].name;
    }
  }
  return files;
}

}  // namespace ingot
