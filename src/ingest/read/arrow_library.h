// What the module libingot_arrow.so offers: the only code that links Arrow, for parquet files and
// S3. It is loaded when the first of these is opened, so that the program starts without Arrow, and
// on machines that do not have it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.h"
#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"

namespace ingot {

inline constexpr char kArrowModule[] = "libingot_arrow.so";
inline constexpr char kArrowFunction[] = "ingot_arrow_library";

struct ParquetRow {
  bool has_text = false;  // not null
  std::string text, id, url;
};

// The rows of a parquet file, front to back. Single-threaded.
class ParquetRows {
 public:
  virtual ~ParquetRows() = default;
  virtual bool next(ParquetRow& row) = 0;  // false at the end
  virtual int64_t bytes_read() const = 0;  // of the file, in proportion to the rows
};

struct ParquetRequest {
  std::string location;  // a path or an s3:// address
  std::string text_column, id_column, url_column;
  int64_t max_bytes = 0;  // of memory that the columns in work may take
};

// Where Arrow fails: what that means in our words, and its own, which speak to programmers.
class ArrowFailure : public std::runtime_error {
 public:
  ArrowFailure(const std::string& meaning, std::string says)
      : std::runtime_error(meaning), says_(std::move(says)) {}
  const std::string& says() const { return says_; }

 private:
  std::string says_;
};

// Every function throws std::runtime_error, ArrowFailure or its own, with what is wrong, in one
// line, without the file's name.
class ArrowLibrary {
 public:
  virtual ~ArrowLibrary() = default;
  // The columns are looked for among the top-level ones; without a string column for the text it
  // throws, naming those there are.
  virtual std::unique_ptr<ParquetRows> open_parquet(const ParquetRequest& request,
                                                    const RemoteSettings& remote) = 0;
  virtual std::unique_ptr<ByteStream> open_s3(const std::string& address,
                                              const RemoteSettings& remote) = 0;
  // The object's ETag; empty where the server has none.
  virtual std::string s3_version(const std::string& address, const RemoteSettings& remote) = 0;
  // The files at or below s3://BUCKET/PREFIX, as addresses.
  virtual std::vector<InputFile> list_s3(const std::string& address,
                                         const RemoteSettings& remote) = 0;
};
using ArrowFunction = ArrowLibrary*();

// Loads the module. Throws ErrorCode::Missing, saying how to get it. `what` is "a.parquet".
ArrowLibrary& arrow_library(const std::string& what);

// What the module threw at `location`, as an error of ours; Arrow's words go to the log, at level
// debug.
Error arrow_error(ErrorCode code, const std::string& location, const std::runtime_error& thrown);

}  // namespace ingot
