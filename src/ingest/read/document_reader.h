// Reads documents from files of any kind and place as one stream with bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/storage/byte_stream.h"
#include "core/storage/storage.h"
#include "ingest/document.h"
#include "remote/remote_settings.h"
#include "spec/settings/settings.h"

namespace ingot {

// One file of an input: a path, or an http(s)://, hf:// or s3:// address.
struct InputFile {
  std::string location;
  std::string name;  // relative to the user's location ("2024/a.jsonl.gz"); unique within the list
  int64_t bytes = -1;      // as stored; -1: unknown before it is opened
  std::string input = {};  // the user's location that it belongs to
};

// Expands `locations`: files, folders, globs (* ? [] within a name, ** for any number of folders)
// and addresses. Folders are searched recursively. Hidden files and kinds that open_documents()
// does not support are skipped; for the output of a job only its documents are listed:
// stage_folder.h. Each location's files are sorted by name in byte order, so the list is the same
// on every machine. Names that occur in two locations get the location's number as prefix
// ("0/a.txt"). Throws ErrorCode::Data for a location without files or with an unfinished job, and
// for a file listed twice. The log counts the skipped files by their endings. `own_output` is the
// folder that the calling command writes: as an input it is refused, below an input it is skipped.
std::vector<InputFile> list_input_files(const std::vector<std::string>& locations,
                                        const RemoteSettings& remote = {},
                                        const std::string& own_output = "");

class BegunStreams;

#include "spec/settings/fields.h"

struct ReadSettings {
#include "ingest/read/read.def"
  std::shared_ptr<Storage> storage = posix_storage();  // of files on this machine
  RemoteSettings remote;
  std::shared_ptr<BegunStreams> begun;  // files already opened by check_text_field(); may be null
  int64_t max_document_bytes = int64_t{256} << 20;  // longer documents are skipped and counted
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(ReadSettings& settings);  // "read.text_field", …

struct RecordPlace {
  std::string file;    // InputFile::name
  int64_t record = 0;  // from 0, over all records of the file
};
using RecordPlaces = std::map<std::string, RecordPlace>;  // by description

// A skipped record is counted under its reason: "empty", "too_large", "invalid_utf8", "no_text"
// (the field is missing or null), "not_a_string", "repeated_field", "invalid_json",
// "not_an_object", …
struct ReadCounts {
  int64_t documents = 0;
  int64_t bytes = 0;  // of text
  std::map<std::string, int64_t> skipped;
  RecordPlaces first_skipped;  // of each reason

  void skip(const std::string& reason, const RecordPlace& place);
  ReadCounts& operator+=(const ReadCounts& later);  // later: counts of what was read after it
};

// The documents of one file in order: valid UTF-8, without a byte order mark, not empty, no longer
// than max_document_bytes. For one thread.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // False at the end of the file. Reuses the strings of `document`. Throws ErrorCode::Data with
  // file and position if the file itself is damaged (truncated gz, bad parquet page, …): earlier
  // documents were returned, and nothing later can be trusted.
  virtual bool next(Document& document) = 0;
  virtual const ReadCounts& counts() const = 0;
  virtual int64_t record() const = 0;      // index in its file of the last document
  virtual int64_t bytes_read() const = 0;  // of the file as stored: for progress
  virtual InputContent content() = 0;      // of the whole file; valid after next() returned false
  // For JSON records, as long as none had text: the fields that hold strings.
  virtual std::set<std::string> string_fields() const { return {}; }
};

// The kind depends on the name without compression (.gz .zst): .txt .md (one document), .jsonl
// .json .ndjson (one record per line), .csv .tsv, .parquet, .warc. Throws ErrorCode::Data for
// another kind, ErrorCode::Missing if the library for it cannot be loaded (parquet, s3).
std::unique_ptr<DocumentReader> open_documents(const InputFile& file, const ReadSettings& settings);

// Checks the first records of the files before a long job: throws ErrorCode::Data with the existing
// fields if no record has text in settings.text_field, and for a local file that is compressed or
// of another kind than its name says. Checks remote files only if `remote_too`; their opened
// streams are kept in settings.begun for the readers.
void check_text_field(const std::vector<InputFile>& files, ReadSettings& settings,
                      bool remote_too = true);

}  // namespace ingot
