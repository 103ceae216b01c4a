#include "ingest/read/document_reader.h"

#include "core/error/error.h"
#include "ingest/read/byte_stream.h"
#include "ingest/read/record_reader.h"

namespace ingot {

void ReadCounts::skip(const std::string& reason, const RecordPlace& place) {
  ++skipped[reason];
  first_skipped.emplace(reason, place);
}

ReadCounts& ReadCounts::operator+=(const ReadCounts& later) {
  documents += later.documents;
  bytes += later.bytes;
  for (const auto& [reason, count] : later.skipped) skipped[reason] += count;
  first_skipped.insert(later.first_skipped.begin(), later.first_skipped.end());
  return *this;
}

std::unique_ptr<DocumentReader> open_documents(const InputFile& file,
                                               const ReadSettings& settings) {
  const std::string kind = file_kind(file.name).kind;
  if (kind == ".txt" || kind == ".md") return read_text(file, settings);
  if (kind == ".jsonl" || kind == ".ndjson" || kind == ".json") return read_json(file, settings);
  if (kind == ".csv" || kind == ".tsv") return read_csv(file, settings);
  if (kind == ".parquet") return read_parquet(file, settings);
  if (kind == ".warc") return read_warc(file, settings);
  throw Error(ErrorCode::Data, fmt::format("{}: documents are read from {} files, also "
                                           "with .gz or .zst after it; got «{}»",
                                           file.location, readable_kinds(), kind));
}

}  // namespace ingot
