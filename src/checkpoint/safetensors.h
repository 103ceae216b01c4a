// The safetensors format: 8 bytes of little-endian header length, a JSON header, the data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/hashed_file.h"
#include "core/storage.h"
#include "core/tensor.h"

namespace ingot {

// Where the data of a flat tensor lies, in bytes from the start of the file.
struct SafetensorsEntry {
  int64_t offset = 0;
  int64_t numel = 0;
  DType dtype = DType::F32;
};

// A flat tensor to write, F64, F32 or BF16.
struct SafetensorsTensor {
  std::string name;
  int64_t numel = 0;
  DType dtype = DType::F32;
};

// Writes and syncs a file of flat tensors, in this order. data(i) gives the contents of the i-th,
// once, and need stay valid only until the next call. Readers that map the file want the wider
// dtypes first: their data is aligned then.
FileFacts write_safetensors(Storage& storage, const std::string& path,
                            const std::vector<SafetensorsTensor>& tensors,
                            const std::function<Tensor(size_t)>& data);

// Throws ErrorCode::Data when the header is damaged, points outside the file or holds a tensor that
// is not flat F64, F32 or BF16. `path` is for messages.
std::map<std::string, SafetensorsEntry> read_safetensors_header(const ReadableFile& file,
                                                                const std::string& path);

}  // namespace ingot
