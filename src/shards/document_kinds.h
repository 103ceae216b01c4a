// Recognises files with documents by name and by first bytes. It is in this layer because ingest,
// which reads them, and feed, which rejects them as plain text, do not depend on each other.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// Kind and compression by the end of a name: "a.jsonl.gz" is {".jsonl", ".gz"}.
struct FileKind {
  std::string kind, compression;
};
FileKind file_kind(const std::string& name);
bool is_readable_kind(const std::string& kind);  // a kind that open_documents() supports
std::string readable_kinds();                    // all of them, for messages

// ".gz", ".zst" or ".parquet", from a file's first bytes; empty: none of these.
std::string_view kind_of_bytes(std::string_view head);

}  // namespace ingot
