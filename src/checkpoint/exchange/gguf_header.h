// A GGUF file as it is read: its metadata, and where its tensors lie. Bytes are not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/gguf_file.h"
#include "checkpoint/exchange/gguf_value.h"
#include "core/storage/storage.h"

namespace ingot {

struct GgufEntry {
  GgufTensor tensor;
  int64_t offset = 0;  // from the start of the file
};

struct GgufHeader {
  std::shared_ptr<const std::string> bytes;  // what the values are views of
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufEntry, std::less<>> tensors;
};

// By its first bytes, whatever its name.
bool is_gguf_file(Storage& storage, const std::string& path);

// Throws ErrorCode::Data, naming `path`, when the header is damaged or of another version, a name
// is there twice, a tensor lies outside the file or on another one, bytes are left over, or a
// tensor is of a type that is not read. Memory is at most a few times the header, which is in the
// file.
GgufHeader read_gguf_header(const ReadableFile& file, const std::string& path);

}  // namespace ingot
