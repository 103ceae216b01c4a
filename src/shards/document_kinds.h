// Which files hold documents that are read, by name and by first bytes. Here, because who reads
// them (ingest) and who refuses to take them for plain text (feed) do not know each other.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// What the end of a name says about compression and kind: "a.jsonl.gz" is {".jsonl", ".gz"}.
struct FileKind {
  std::string kind, compression;
};
FileKind file_kind(const std::string& name);
bool is_readable_kind(const std::string& kind);  // of those open_documents() knows
std::string readable_kinds();                    // all of them, for messages

// ".gz", ".zst" or ".parquet", as a file's first bytes say; empty: none of these.
std::string_view kind_of_bytes(std::string_view head);

}  // namespace ingot
