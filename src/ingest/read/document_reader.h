// Documents from files of any kind, wherever they lie, as one stream with bounded memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ingest/document.h"
#include "spec/settings/settings.h"

namespace ingot {

// One file of an input: a path, or an http(s)://, hf:// or s3:// address.
struct InputFile {
  std::string location;
  std::string name;        // below what the user named ("2024/a.jsonl.gz"); unique within the list
  int64_t bytes = -1;      // as stored; -1: not known before it is opened
  std::string input = {};  // what the user named and this is of
};

class BegunStreams;

// How addresses are reached. cli fills in what comes from the environment.
struct RemoteSettings {
  std::string cache_folder;  // files are kept here; empty: streamed, not kept
  std::string hf_endpoint = "https://huggingface.co";
  std::string hf_token;          // empty: only public datasets
  bool s3_anonymous = false;     // without credentials; else those that the AWS library finds
  std::string s3_endpoint;       // "http://localhost:9000"; empty: Amazon's
  std::string s3_region;         // empty: asked of the bucket
  int64_t max_attempts = 6;      // without a byte more, before a transfer is given up
  int64_t first_delay_ms = 500;  // before the second attempt; doubled each time
  int64_t stall_seconds = 30;    // a transfer that brings nothing for so long is broken
  std::shared_ptr<BegunStreams> begun;  // files that check_text_field() has looked at; may be null
};

// What `locations` stand for: files, folders (recursively; hidden files and those of a kind that
// open_documents() does not know are left out, the latter with a word in the log; of the output of
// a stage its documents: stage_folder.h), globs (* ? [] within a name, ** for any number of
// folders), addresses. Each location's files come in byte order of their names, so the list is the
// same on every machine. Names that two locations have in common get the location's number before
// them ("0/a.txt"). Throws ErrorCode::Data naming a location that has no file or what a stage has
// not finished, and a file that two locations name. `own_output`: the folder that the command which
// asks writes; as an input it is refused, and below one it is passed over.
std::vector<InputFile> list_input_files(const std::vector<std::string>& locations,
                                        const RemoteSettings& remote = {},
                                        const std::string& own_output = "");

// What a file holds, to tell whether it is still the same.
struct InputContent {
  std::string hash;     // XXH3-128 of the bytes as stored, in hexadecimal; empty: not known
  std::string version;  // of a remote file, as its server names it; empty: not known
};

#include "spec/settings/fields.h"

struct ReadSettings {
#include "ingest/read/read.def"
  RemoteSettings remote;
  int64_t max_document_bytes = int64_t{256} << 20;  // longer ones are skipped and counted
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(ReadSettings& settings);  // "read.text_field", …

struct RecordPlace {
  std::string file;    // InputFile::name
  int64_t record = 0;  // from 0, over all records of the file
};
using RecordPlaces = std::map<std::string, RecordPlace>;  // by what is there

// A skipped record is counted under its reason: "empty", "too_large", "invalid_utf8", "no_text"
// (the field is missing or null), "not_a_string", "invalid_json", "not_an_object", …
struct ReadCounts {
  int64_t documents = 0;
  int64_t bytes = 0;  // of text
  std::map<std::string, int64_t> skipped;
  RecordPlaces first_skipped;  // of each reason

  void skip(const std::string& reason, const RecordPlace& place);
  ReadCounts& operator+=(const ReadCounts& later);  // of what was read after it
};

// The documents of one file, in the order they lie in it: well-formed UTF-8, without a byte order
// mark, not empty, no longer than max_document_bytes. Single-threaded.
class DocumentReader {
 public:
  virtual ~DocumentReader() = default;
  // False at the end of the file. Reuses the strings of `document`. Throws ErrorCode::Data, with
  // file and place, where the file itself is damaged (truncated gz, bad parquet page, …): what came
  // before has been given, and nothing after it can be trusted.
  virtual bool next(Document& document) = 0;
  virtual const ReadCounts& counts() const = 0;
  virtual int64_t record() const = 0;  // number, in its file, of the document that next() gave last
  virtual int64_t bytes_read() const = 0;  // of the file as stored: for progress
  virtual InputContent content() = 0;      // of the whole file, once next() gave false
  // Of JSON records, where none so far had text: the fields that hold strings.
  virtual std::set<std::string> string_fields() const { return {}; }
};

// The kind is told by the name below compression (.gz .zst): .txt .md (one document), .jsonl .json
// .ndjson (a record a line), .csv .tsv, .parquet, .warc. Throws ErrorCode::Data for another kind,
// ErrorCode::Missing where the library for it cannot be loaded (parquet, s3).
std::unique_ptr<DocumentReader> open_documents(const InputFile& file, const ReadSettings& settings);

// Looks at the first records of files before a long work begins: throws ErrorCode::Data, with the
// fields that are there, where none has text in settings.text_field, and for a local file that is
// compressed or of another kind than its name says. Remote files are looked at
// where `remote_too` says so; what came of them is in settings.remote.begun for those who read
// them.
void check_text_field(const std::vector<InputFile>& files, ReadSettings& settings,
                      bool remote_too = true);

}  // namespace ingot
