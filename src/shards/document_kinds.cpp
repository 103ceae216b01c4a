#include "shards/document_kinds.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/text/ascii.h"

namespace ingot {
namespace {

constexpr std::array<std::string_view, 9> kKinds{".txt", ".md",  ".jsonl",   ".ndjson", ".json",
                                                 ".csv", ".tsv", ".parquet", ".warc"};

// Takes the last extension, in lower case, off `name`.
std::string take_extension(std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.find('/', dot) != std::string::npos) return "";
  const std::string extension = lower_case(std::string_view(name).substr(dot));
  name.resize(dot);
  return extension;
}

}  // namespace

FileKind file_kind(const std::string& name) {
  std::string rest = name;
  FileKind result;
  result.kind = take_extension(rest);
  if (result.kind == ".gz" || result.kind == ".zst") {
    result.compression = result.kind;
    result.kind = take_extension(rest);
  }
  return result;
}

bool is_readable_kind(const std::string& kind) {
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::string readable_kinds() {
  return fmt::format("{}", fmt::join(kKinds, " "));
}

std::string_view kind_of_bytes(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return ".gz";
  if (head.starts_with("\x28\xb5\x2f\xfd")) return ".zst";
  if (head.starts_with("PAR1")) return ".parquet";
  return "";
}

}  // namespace ingot
