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

// A tensor in a file; `offset` in bytes from the start of the file.
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

// Takes the next elements of a tensor, contiguous and in its dtype. Keeps no reference to them.
using PutElements = std::function<void(const Tensor&)>;

// Everything before the data. `metadata`: texts that belong to no tensor.
std::string safetensors_header(const std::vector<SafetensorsTensor>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

// Writes and syncs a file of tensors, in this order. data(i, put) passes the contents of tensor i
// to `put`, in any number of pieces. Put the larger dtypes first: then all data is aligned for
// readers that map the file.
FileFacts write_safetensors(Storage& storage, const std::string& path,
                            const std::vector<SafetensorsTensor>& tensors,
                            const std::function<void(size_t, const PutElements&)>& data,
                            const std::map<std::string, std::string>& metadata = {});

// Throws ErrorCode::Data if the header is damaged, names a tensor twice or points outside the file,
// if tensors overlap or leave bytes out, or if a tensor has an unknown dtype or rank. `path` is for
// messages.
std::map<std::string, SafetensorsEntry> read_safetensors_header(const ReadableFile& file,
                                                                const std::string& path);

}  // namespace ingot
