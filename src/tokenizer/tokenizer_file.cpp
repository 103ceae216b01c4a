#include "tokenizer/tokenizer_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

// The files that a folder may hold a tokenizer in, the first that is there.
constexpr std::string_view kNamesInFolder[] = {"tokenizer.json", "vocab.json", "tokenizer.model",
                                               "tokenizer.bin", "tokenizer"};
constexpr std::string_view kEndingsInFolder[] = {".tiktoken", ".model", "tokenizer.json",
                                                 "vocab.json", "tokenizer.bin"};

// Names of what may be the folder's tokenizer; the first of the usual names counts alone. Throws
// for what is no folder.
std::vector<std::string> tokenizers_in(Storage& storage, const std::string& folder) {
  for (const std::string_view name : kNamesInFolder)
    if (storage.exists(join_path(folder, name))) return {std::string(name)};
  std::vector<std::string> found;
  for (const std::string& name : storage.list(folder)) {
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    if (std::any_of(std::begin(kEndingsInFolder), std::end(kEndingsInFolder), ends))
      found.push_back(name);
  }
  return found;
}

}  // namespace

bool holds_tokenizer(Storage& storage, const std::string& folder) {
  return !tokenizers_in(storage, folder).empty();
}

std::string tokenizer_file(Storage& storage, const std::string& path) {
  std::vector<std::string> found;
  try {
    found = tokenizers_in(storage, path);
  } catch (const Error&) {
    return path;  // a file; or nothing, which who reads it says
  }
  check(!found.empty(), ErrorCode::Data,
        "{}: no tokenizer in this folder: expected {}, or a file that ends with .tiktoken or "
        ".model",
        path, fmt::join(kNamesInFolder, ", "));
  check(found.size() == 1, ErrorCode::Data,
        "{}: several tokenizers in this folder: expected the path of one of {}", path,
        fmt::join(found, ", "));
  return join_path(path, found[0]);
}

}  // namespace ingot
