// The interface of the module libingot_arrow.so, the only code that links Arrow, for parquet files
// and S3. It is loaded when the first of these is opened, so that the program also runs on machines
// without Arrow.
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

// The rows of a parquet file in order. For one thread.
class ParquetRows {
 public:
  virtual ~ParquetRows() = default;
  virtual bool next(ParquetRow& row) = 0;  // false at the end
  virtual int64_t bytes_read() const = 0;  // of the file, in proportion to the rows
};

struct ParquetRequest {
  std::string location;  // a path or an s3:// address
  std::string text_column, id_column, url_column;
  int64_t max_bytes = 0;  // limit on the memory of the columns in use
};

// An Arrow failure: our explanation, and Arrow's message, which is written for programmers.
class ArrowFailure : public std::runtime_error {
 public:
  ArrowFailure(const std::string& meaning, std::string says)
      : std::runtime_error(meaning), says_(std::move(says)) {}
  const std::string& says() const { return says_; }

 private:
  std::string says_;
};

// Every function throws std::runtime_error (ArrowFailure, or one of its own) with a one-line
// explanation without the file's name.
class ArrowLibrary {
 public:
  virtual ~ArrowLibrary() = default;
  // Columns are top-level ones. If there is no string column for the text, throws with the names of
  // the existing ones.
  virtual std::unique_ptr<ParquetRows> open_parquet(const ParquetRequest& request,
                                                    const RemoteSettings& remote) = 0;
  virtual std::unique_ptr<ByteStream> open_s3(const std::string& address,
                                              const RemoteSettings& remote) = 0;
  // The object's ETag; empty if the server has none.
  virtual std::string s3_version(const std::string& address, const RemoteSettings& remote) = 0;
  // The files at or below s3://BUCKET/PREFIX, as addresses.
  virtual std::vector<InputFile> list_s3(const std::string& address,
                                         const RemoteSettings& remote) = 0;
};
using ArrowFunction = ArrowLibrary*();

// Loads the module. Throws ErrorCode::Missing with how to install it. `what` is "a.parquet".
ArrowLibrary& arrow_library(const std::string& what);

// Converts the module's exception at `location`; Arrow's message goes to the log at level debug.
Error arrow_error(ErrorCode code, const std::string& location, const std::runtime_error& thrown);

}  // namespace ingot
