#include "checkpoint/elements.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "checkpoint/hashed_file.h"
#include "core/error/error.h"
#include "core/tensor/visit_dtype.h"

namespace ingot {
namespace {

// Calls f(T{}) with the type of elements of a weight dtype.
template <class F>
void with_type(DType dtype, const F& f) {
  const bool known = visit_dtype<DType::F64, DType::F32, DType::BF16, DType::F16>(dtype, f);
  check(known, ErrorCode::Internal, "weights are f64, f32, bf16 or f16, not {}", name_of(dtype));
}

template <class To, class From>
To converted(From from) {
  if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    return static_cast<To>(from);
  } else if constexpr (std::is_floating_point_v<From>) {
    return To::from_float(static_cast<float>(from));
  } else if constexpr (std::is_floating_point_v<To>) {
    return To{from.to_float()};
  } else {
    return To::from_float(from.to_float());
  }
}

// NaN and infinity have all bits of the exponent set. An import looks at every weight, so blocks
// have a constant length: of such loops alone -O2 makes vectors (bf16: 33 GB/s, else 2.7).
template <class Bits>
int64_t first_with_exponent(const void* data, int64_t count, Bits exponent) {
  constexpr int64_t kBlock = 4096;
  const auto* bits = static_cast<const Bits*>(data);
  const auto is_bad = [exponent](Bits element) { return (element & exponent) == exponent; };
  int64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    Bits found = 0;
    for (int64_t i = 0; i < kBlock; ++i) found |= static_cast<Bits>(is_bad(bits[at + i]));
    if (found != 0) break;
  }
  const auto* bad = std::find_if(bits + at, bits + count, is_bad);
  return bad == bits + count ? -1 : bad - bits;
}

}  // namespace

std::span<std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data), static_cast<size_t>(tensor.bytes())};
}

bool is_weight_dtype(DType dtype) {
  return dtype == DType::F64 || dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16;
}

void convert_elements(const Tensor& from, const Tensor& to) {
  check(from.numel() == to.numel(), ErrorCode::Internal, "converting {} to {}", from, to);
  with_type(from.dtype, [&](auto from_type) {
    with_type(to.dtype, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      if constexpr (std::is_same_v<From, To>)
        std::copy_n(from.as<From>(), from.numel(), to.as<To>());
      else
        std::transform(from.as<From>(), from.as<From>() + from.numel(), to.as<To>(),
                       converted<To, From>);
    });
  });
}

void read_elements(const ReadableFile& file, int64_t offset, DType dtype, const Tensor& out) {
  check(is_weight_dtype(dtype), ErrorCode::Data,
        "expected weights of F64, F32, BF16 or F16, got {}", name_of(dtype));
  with_type(out.dtype, [](auto) {});  // throws for others
  if (out.dtype == dtype) return file.read(offset, bytes_of(out));
  const Tensor flat = out.reshape({out.numel()});
  const int64_t chunk = kFileChunkBytes / size_of(dtype);
  std::vector<std::byte> staged(static_cast<size_t>(std::min(chunk, out.numel()) * size_of(dtype)));
  for (int64_t at = 0; at < out.numel(); at += chunk) {
    const int64_t count = std::min(chunk, out.numel() - at);
    const Tensor values = Tensor::contiguous(staged.data(), dtype, {count});
    file.read(offset + at * size_of(dtype), bytes_of(values));
    convert_elements(values, flat.slice(0, at, at + count));
  }
}

void transpose(const std::byte* from, int64_t rows, int64_t columns, int64_t size, std::byte* to) {
  constexpr int64_t kTile = 64;  // both sides of a tile stay in the cache
  for (int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (int64_t c0 = 0; c0 < columns; c0 += kTile)
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c)
          std::memcpy(to + (c * rows + r) * size, from + (r * columns + c) * size,
                      static_cast<size_t>(size));
}

int64_t first_not_finite(const Tensor& tensor) {
  const int64_t count = tensor.numel();
  switch (tensor.dtype) {
    case DType::F64:
      return first_with_exponent<uint64_t>(tensor.data, count, uint64_t{0x7ff} << 52);
    case DType::F32:
      return first_with_exponent<uint32_t>(tensor.data, count, 0x7f800000u);
    case DType::BF16:
      return first_with_exponent<uint16_t>(tensor.data, count, 0x7f80);
    case DType::F16:
      return first_with_exponent<uint16_t>(tensor.data, count, 0x7c00);
    default:
      throw Error(ErrorCode::Internal, "only weights are looked through");
  }
}

}  // namespace ingot
