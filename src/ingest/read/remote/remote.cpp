#include "ingest/read/remote/remote.h"

#include <fnmatch.h>

#include <filesystem>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "ingest/read/arrow_library.h"
#include "ingest/read/remote/begun_streams.h"
#include "remote/hub.h"
#include "remote/web_stream.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

bool is_s3(const std::string& location) {
  return location.starts_with("s3://");
}
bool is_hf(const std::string& location) {
  return location.starts_with("hf://");
}

WebFile web_file(const std::string& address, const RemoteSettings& remote) {
  return is_hf(address) ? hf_file(address, remote) : WebFile{address, address, {}};
}

// The module throws std::runtime_error without the address.
template <class Call>
auto named(const std::string& address, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw arrow_error(ErrorCode::Storage, address, error);
  }
}

class NamedStream final : public ByteStream {
 public:
  NamedStream(std::unique_ptr<ByteStream> inner, std::string address)
      : inner_(std::move(inner)), address_(std::move(address)) {}
  size_t read(char* into, size_t size) override {
    return named(address_, [&] { return inner_->read(into, size); });
  }
  int64_t bytes_read() const override { return inner_->bytes_read(); }
  std::string version() const override { return inner_->version(); }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::string address_;
};

// The wildcard algorithm over components: only the last "**" ever has to take one more of them, so
// the time is at most the product of the two lengths.
using Component = fs::path::const_iterator;
bool matches(Component pattern, Component pattern_end, Component name, Component name_end) {
  Component behind_stars = pattern_end, retry = name_end;  // pattern_end: no "**" yet
  while (name != name_end) {
    if (pattern != pattern_end && *pattern == "**") {
      behind_stars = ++pattern;
      if (pattern == pattern_end) return true;
      retry = name;
    } else if (pattern != pattern_end &&
               fnmatch(pattern->c_str(), name->c_str(), FNM_PERIOD) == 0) {
      ++pattern;
      ++name;
    } else {
      if (behind_stars == pattern_end) return false;
      pattern = behind_stars;
      name = ++retry;
    }
  }
  // A "**" at the very end wants something to stand for; one before others does not.
  while (pattern != pattern_end && *pattern == "**" && std::next(pattern) != pattern_end) ++pattern;
  return pattern == pattern_end;
}

// `path` up to the first component with a pattern.
std::string fixed_folder(const std::string& path) {
  const size_t special = path.find_first_of("*?[");
  const size_t slash = path.rfind('/', special);
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool has_hidden_component(const std::string& path) {
  return path.starts_with('.') || path.find("/.") != std::string::npos;
}

// Of all `files` below `folder`, whose names are paths from the dataset's or the service's root,
// those that `pattern` asks for, or, where it is empty, those that a folder stands for.
ListedFiles choose(std::vector<InputFile> files, const std::string& folder,
                   const std::string& pattern) {
  ListedFiles chosen;
  for (InputFile& file : files) {
    const std::string path = file.name;
    file.name = folder.empty() ? path : path.substr(std::min(path.size(), folder.size() + 1));
    if (file.name.empty()) file.name = file_name(path);  // the folder is a file
    if (pattern.empty() ? has_hidden_component(file.name) : !matches_pattern(pattern, path))
      continue;
    const std::string what = pattern.empty() ? left_out_as(path) : "";
    if (what.empty())
      chosen.files.push_back(std::move(file));
    else
      ++chosen.left_out[what];
  }
  return chosen;
}

bool is_pattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos;
}

// Named by their paths in the dataset.
std::vector<InputFile> files_below(const HfAddress& folder, const RemoteSettings& remote) {
  std::vector<InputFile> files;
  for (HubFile& file : list_hf_folder(folder, remote))
    files.push_back({std::move(file.address), std::move(file.path), file.bytes});
  return files;
}

ListedFiles list_hf(const std::string& address, const RemoteSettings& remote) {
  HfAddress parsed = parse_hf_address(address);
  const std::string path = parsed.path;
  if (is_pattern(path)) {
    parsed.path = fixed_folder(path);
    return choose(files_below(parsed, remote), parsed.path, path);
  }
  // A name with a kind is a file: to list its folder would be a request more for nothing.
  if (is_readable_kind(file_kind(path).kind))
    return {{{to_string(parsed), file_name(path), -1}}, {}};
  ListedFiles listed = choose(files_below(parsed, remote), path, "");
  // The dataset's description is no document.
  const auto descriptions = std::erase_if(
      listed.files, [](const InputFile& file) { return file_name(file.name) == "README.md"; });
  if (descriptions > 0) listed.left_out["README.md"] = static_cast<int64_t>(descriptions);
  return listed;
}

ListedFiles list_s3(const std::string& address, const RemoteSettings& remote) {
  const std::string path = address.substr(5);
  const std::string folder = is_pattern(path) ? fixed_folder(path) : path;
  auto files =
      named(address, [&] { return arrow_library(address).list_s3("s3://" + folder, remote); });
  return choose(std::move(files), folder, is_pattern(path) ? path : "");
}

}  // namespace

bool is_remote(const std::string& location) {
  const size_t scheme = location.find("://");
  return scheme != std::string::npos && location.find('/') == scheme + 1;
}

namespace {

std::unique_ptr<ByteStream> open_new(const std::string& address, const RemoteSettings& remote) {
  if (is_s3(address)) {
    auto stream = named(address, [&] { return arrow_library(address).open_s3(address, remote); });
    return std::make_unique<NamedStream>(std::move(stream), address);
  }
  return open_web_stream(web_file(address, remote), remote);
}

}  // namespace

std::unique_ptr<ByteStream> open_remote(const std::string& address, const ReadSettings& settings) {
  const auto open = [&] { return open_new(address, settings.remote); };
  return settings.begun == nullptr ? open() : settings.begun->open(address, open);
}

std::string local_or_s3(const std::string& address, const RemoteSettings& remote) {
  return is_s3(address) ? address : fetch_to_cache(web_file(address, remote), remote);
}

std::string cached_copy(const std::string& address, const RemoteSettings& remote) {
  return is_s3(address) ? "" : cached_path(web_file(address, remote), remote);
}

std::string remote_version(const std::string& address, const RemoteSettings& remote) {
  if (!is_s3(address)) return fetch_etag(web_file(address, remote), remote);
  try {
    return arrow_library(address).s3_version(address, remote);
  } catch (const std::runtime_error&) {
    return "";
  }
}

bool never_changes(const std::string& address) {
  return is_hf(address) && is_commit(parse_hf_address(address).revision);
}

ListedFiles list_remote(const std::string& address, const RemoteSettings& remote) {
  if (is_hf(address)) return list_hf(address, remote);
  if (is_s3(address)) return list_s3(address, remote);
  check(address.starts_with("http://") || address.starts_with("https://"), ErrorCode::Data,
        "{}: expected a path, or an address that begins with http://, https://, hf:// or s3://",
        address);
  return {{{address, file_name(address.substr(0, address.find_first_of("?#"))), -1}}, {}};
}

bool matches_pattern(const std::string& pattern, const std::string& path) {
  const fs::path wanted(pattern), given(path);
  return matches(wanted.begin(), wanted.end(), given.begin(), given.end());
}

}  // namespace ingot
