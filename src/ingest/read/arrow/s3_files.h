// S3 through Arrow's file system: part of the module libingot_arrow.so.
#pragma once

#include <arrow/io/interfaces.h>

#include "ingest/read/arrow_library.h"

namespace ingot::arrow_module {

std::shared_ptr<arrow::io::RandomAccessFile> open_s3_file(const std::string& address,
                                                          const RemoteSettings& remote);
// As in ArrowLibrary.
std::unique_ptr<ByteStream> open_s3(const std::string& address, const RemoteSettings& remote);
std::string s3_version(const std::string& address, const RemoteSettings& remote);
std::vector<InputFile> list_s3(const std::string& address, const RemoteSettings& remote);

}  // namespace ingot::arrow_module
