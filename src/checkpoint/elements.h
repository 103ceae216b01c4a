// Elements of files in the dtypes that weights come in: F64, F32, BF16 and F16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/storage/storage.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor.h"

namespace ingot {

bool is_weight_dtype(DType dtype);
std::span<std::byte> bytes_of(const Tensor& tensor);  // must be contiguous

// Reads elements of `dtype` from byte `offset` of a file into `out` (contiguous) and converts them
// to its dtype. F64 is converted to 16 bits through F32. Throws ErrorCode::Data for another dtype
// in the file.
void read_elements(const ReadableFile& file, int64_t offset, DType dtype, const Tensor& out);

// Converts `from` into `to`; both are contiguous with the same number of elements.
void convert_elements(const Tensor& from, const Tensor& to);

// Transposes a matrix (rows, columns) of `size`-byte elements.
void transpose(const std::byte* from, int64_t rows, int64_t columns, int64_t size, std::byte* to);

// Index of the first element that is NaN or infinite; -1: none.
int64_t first_not_finite(const Tensor& tensor);

}  // namespace ingot
