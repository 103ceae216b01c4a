// Reads the header of a GGUF file: its metadata and the positions of its tensors. Input is not
// trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/gguf/file.h"
#include "checkpoint/exchange/gguf/value.h"
#include "core/storage/storage.h"

namespace ingot {

struct GgufEntry {
  GgufTensor tensor;
  int64_t offset = 0;  // from the start of the file
};

struct GgufHeader {
  std::shared_ptr<const std::string> bytes;  // the values are views of it
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufEntry, std::less<>> tensors;
};

// Detected by its first bytes, whatever its name.
bool is_gguf_file(Storage& storage, const std::string& path);

// Throws ErrorCode::Data naming `path` if the header is damaged or of another version, a name is
// repeated, a tensor is outside the file or overlaps another, bytes are left over, or a tensor has
// an unsupported type. Memory is at most a few times the header, which is in the file.
GgufHeader read_gguf_header(const ReadableFile& file, const std::string& path);

}  // namespace ingot
