#include "feed/text_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "shards/document_kinds.h"
#include "shards/shard_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Files by what their names end in.
using Counts = std::map<std::string, int64_t>;

std::string list_of(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts)
    parts.push_back(fmt::format("{} {}", format_count(count), kind));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string commands(const std::string& path, const std::string& tokenizer) {
  return fmt::format(
      "ingot data tokenize {} --tokenizer {} --out SHARDS, and then ingot train … --set "
      "data.train=SHARDS",
      path, tokenizer);
}

void refuse(const TextChoice& choice, const std::string& what, const std::string& advice) {
  check(!choice.refuses, ErrorCode::Data, "{}; {}", what, advice);
  log::warn("doubtful_text", {{"what", what}});
}

// Text and Markdown are read as they stand.
bool is_text_kind(const FileKind& kind) {
  return kind.compression.empty() && (kind.kind == ".txt" || kind.kind == ".md");
}

std::string_view kind_of_contents(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";  // to open a pipe is to wait for its writer
  std::array<char, 4> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return kind_of_bytes({head.data(), static_cast<size_t>(file.gcount())});
}

void check_contents(const std::string& path, const TextChoice& choice,
                    const std::string& tokenizer) {
  const std::string_view kind = kind_of_contents(path);
  if (kind.empty()) return;
  const bool is_compressed = kind != ".parquet";
  refuse(choice, fmt::format("{}: expected text, got {} by its first bytes", path, kind.substr(1)),
         fmt::format("give it a name that ends as what it holds ({}) and make shards of it: {}",
                     is_compressed ? fmt::format(".txt{0}, .jsonl{0}", kind) : std::string(kind),
                     commands("FILE", tokenizer)));
}

// JSON lines under a name that says nothing, as `part-00000`: the first line is an object.
void check_for_json(const std::string& path, const TextChoice& choice,
                    const std::string& tokenizer) {
  constexpr size_t kMostBytes = size_t{1} << 20;  // of a first line that is looked at
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;
  std::ifstream file(path, std::ios::binary);
  if (file.peek() != '{') return;
  std::string line(kMostBytes, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.resize(std::min(line.size(), line.find('\n')));
  if (!nlohmann::json::accept(line)) return;
  refuse(choice,
         fmt::format("{}: expected text, got JSON lines by its first line, which would be trained "
                     "on as the bytes of the file",
                     path),
         fmt::format("give it a name that ends in .jsonl and make shards of it: {} (bytes that are "
                     "meant as text are taken from a file named .txt)",
                     commands("FILE", tokenizer)));
}

void check_file(const std::string& path, const TextChoice& choice, const std::string& tokenizer) {
  const FileKind kind = file_kind(path);
  const bool is_documents = !kind.compression.empty() || is_readable_kind(kind.kind);
  if (!is_documents) check_for_json(path, choice, tokenizer);
  if (!is_documents || is_text_kind(kind)) return check_contents(path, choice, tokenizer);
  std::error_code no_file;
  if (!fs::exists(path, no_file)) return;  // opening it says that
  refuse(choice,
         fmt::format("{}: expected text, got documents of another kind ({}), which would be "
                     "trained on as the bytes of the file",
                     path, kind.kind + kind.compression),
         fmt::format("make shards of it: {}{}", commands(path, tokenizer),
                     kind.compression.empty()
                         ? " (bytes that are meant as text are taken from a file named .txt)"
                         : ""));
}

struct Found {
  std::vector<std::string> texts;
  Counts documents, others;  // that are left out: of kinds that are read, and not
};

Found look_through(const std::string& folder) {
  Found found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    const bool is_hidden = path.find("/.", folder.size() - 1) != std::string::npos;
    if (it->is_directory(error)) {
      if (it->is_symlink(error) && !is_hidden) ++found.others["links to folders"];
    } else if (!it->is_regular_file(error)) {
      continue;
    } else if (it->path().extension() == ".txt") {
      if (it->file_size(error) > 0) found.texts.push_back(path);
    } else if (!is_hidden) {
      const FileKind kind = file_kind(path);
      const std::string ending = kind.kind + kind.compression;
      const bool is_read = is_readable_kind(kind.kind);
      ++(is_read ? found.documents : found.others)[ending.empty() ? "without an ending" : ending];
    }
  }
  check(!error, ErrorCode::Storage, "{}: cannot list the folder: {}", folder, error.message());
  std::sort(found.texts.begin(), found.texts.end());
  return found;
}

// A folder above token shards, as `ingot data mix` writes, or of shards that are not finished.
void check_for_shards(const std::string& folder, const Found& found) {
  if (!found.texts.empty()) return;
  check_holds_no_shard_folders(folder);
  std::error_code error;
  check(!fs::exists(fs::path(folder) / "stage.json", error) ||
            !fs::is_directory(fs::path(folder) / "tasks", error),
        ErrorCode::Data,
        "{}: the command of data preparation that writes it has not finished, or has written "
        "documents, of which ingot data tokenize makes shards; run it again to continue",
        folder);
}

std::vector<std::string> files_of_folder(const std::string& folder, const TextChoice& choice,
                                         const std::string& tokenizer) {
  Found found = look_through(folder);
  check_for_shards(folder, found);
  const std::string help = "make shards of its documents: " + commands(folder, tokenizer);
  check(!found.texts.empty() || found.documents.empty(), ErrorCode::Data,
        "{}: expected .txt files, got documents of other kinds ({}); {}", folder,
        list_of(found.documents), help);
  check(!found.texts.empty(), ErrorCode::Data,
        "{}: no text in this folder; expected at least one .txt file that is not empty", folder);
  if (!found.documents.empty() && !choice.txt_only)
    refuse(choice,
           fmt::format("{}: its {} .txt would be trained on and other documents left out: {}",
                       folder, format_count(static_cast<int64_t>(found.texts.size())),
                       list_of(found.documents)),
           help + "; or, to train on the .txt alone, add --set data.txt_only=true");
  found.others.merge(found.documents);
  if (!found.others.empty())
    log::info("left_out", {{"folder", folder}, {"files", list_of(found.others)}});
  for (const std::string& path : found.texts) check_contents(path, choice, tokenizer);
  return std::move(found.texts);
}

}  // namespace

std::vector<std::string> text_files(const std::string& path, const TextChoice& choice,
                                    const std::string& tokenizer) {
  std::error_code
      no_folder;  // whatever is wrong with the path, opening it as a file says so better
  if (fs::is_directory(path, no_folder)) return files_of_folder(path, choice, tokenizer);
  check(path.find("://") == std::string::npos, ErrorCode::Data,
        "{}: expected a local file or folder, got an address; make shards of its documents: {}",
        path, commands(path, tokenizer));
  check_file(path, choice, tokenizer);
  return {path};
}

}  // namespace ingot
