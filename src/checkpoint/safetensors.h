// The safetensors format: 8 bytes of little-endian header length, a JSON header, the data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/hashed_file.h"
#include "core/storage/storage.h"
#include "core/tensor/tensor.h"

namespace ingot {

// Where a tensor's data lies, in bytes from the start of the file.
struct SafetensorsEntry {
  int64_t offset = 0;
  Shape shape;
  int64_t numel = 0;
  DType dtype = DType::F32;
};

// A tensor to write: F64, F32, BF16 or F16.
struct SafetensorsTensor {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
};

// Takes the next elements of a tensor, contiguous and of its dtype; done with them when it returns.
using PutElements = std::function<void(const Tensor&)>;

// All that stands before the data; `metadata`: its texts of no tensor.
std::string safetensors_header(const std::vector<SafetensorsTensor>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

// Writes and syncs a file of tensors, in this order. data(i, put) puts the contents of the i-th, in
// as many pieces as it likes. Readers that map the file want the wider dtypes first: their data is
// aligned then.
FileFacts write_safetensors(Storage& storage, const std::string& path,
                            const std::vector<SafetensorsTensor>& tensors,
                            const std::function<void(size_t, const PutElements&)>& data,
                            const std::map<std::string, std::string>& metadata = {});

// Throws ErrorCode::Data when the header is damaged, names a tensor twice, points outside the file,
// leaves bytes of it out or gives them to two tensors, or holds a tensor of a dtype or rank that is
// not known. `path` is for messages.
std::map<std::string, SafetensorsEntry> read_safetensors_header(const ReadableFile& file,
                                                                const std::string& path);

}  // namespace ingot
