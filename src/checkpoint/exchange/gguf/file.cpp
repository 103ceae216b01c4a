#include "checkpoint/exchange/gguf/file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "checkpoint/hashed_file.h"
#include "core/error/error.h"

namespace ingot {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian, as written");

constexpr uint32_t kVersion = 3;
constexpr int64_t kAlignment = 32;
enum : uint32_t { kU8 = 0, kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kText = 8, kList = 9 };

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_text(std::string& to, std::string_view text) {
  put(to, static_cast<uint64_t>(text.size()));
  to += text;
}

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// False: it is too large.
bool put_f16(float value, std::string& to) {
  constexpr uint16_t kInfinity = 0x7C00, kSign = 0x8000;
  const uint16_t bits = F16::from_float(value).bits;
  put(to, bits);
  return (bits & ~kSign) != kInfinity;
}

// A scale in 16 bits and 32 signed bytes.
bool put_q8_0(std::span<const float> values, std::string& to) {
  for (size_t at = 0; at < values.size(); at += kGgufBlock) {
    int8_t codes[kGgufBlock];
    if (!put_f16(quantize_q8_0(values.data() + at, codes), to)) return false;
    to.append(reinterpret_cast<const char*>(codes), sizeof codes);
  }
  return true;
}

bool put_elements(GgufType type, std::span<const float> values, std::string& to) {
  switch (type) {
    case GgufType::F32:
      to.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
      return true;
    case GgufType::F16:
      return std::ranges::all_of(values, [&](float value) { return put_f16(value, to); });
    case GgufType::BF16:
      for (const float value : values) put(to, Bf16::from_float(value).bits);
      return true;
    case GgufType::Q8_0:
      return put_q8_0(values, to);
  }
  throw Error(ErrorCode::Internal, "unknown GGUF type");
}

std::string header_of(const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors) {
  std::string header = "GGUF";
  put(header, kVersion);
  put(header, static_cast<uint64_t>(tensors.size()));
  put(header, metadata.count());
  header += metadata.bytes();
  int64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    put_text(header, tensor.name);
    put(header, static_cast<uint32_t>(tensor.shape.rank()));
    for (int dim = tensor.shape.rank() - 1; dim >= 0; --dim)
      put(header, static_cast<uint64_t>(tensor.shape[dim]));
    put(header, static_cast<uint32_t>(tensor.type));
    put(header, static_cast<uint64_t>(offset));
    offset += aligned(gguf_bytes(tensor));
  }
  header.resize(static_cast<size_t>(aligned(static_cast<int64_t>(header.size()))), '\0');
  return header;
}

}  // namespace

GgufType parse_gguf_type(std::string_view name) {
  if (name == "f32") return GgufType::F32;
  if (name == "bf16") return GgufType::BF16;
  if (name == "f16") return GgufType::F16;
  check(name == "q8_0", ErrorCode::Usage, "'{}' is no type of GGUF tensors that is written here",
        name);
  return GgufType::Q8_0;
}

void GgufMetadata::begin(std::string_view key, uint32_t type) {
  put_text(bytes_, key);
  put(bytes_, type);
  ++count_;
}

void GgufMetadata::begin_list(std::string_view key, uint32_t type, size_t size) {
  begin(key, kList);
  put(bytes_, type);
  put(bytes_, static_cast<uint64_t>(size));
}

void GgufMetadata::add(std::string_view key, std::string_view text) {
  begin(key, kText);
  put_text(bytes_, text);
}

void GgufMetadata::add_u32(std::string_view key, int64_t value) {
  begin(key, kU32);
  put(bytes_, static_cast<uint32_t>(value));
}

void GgufMetadata::add_f32(std::string_view key, double value) {
  begin(key, kF32);
  put(bytes_, static_cast<float>(value));
}

void GgufMetadata::add_flag(std::string_view key, bool value) {
  begin(key, kBool);
  put(bytes_, static_cast<uint8_t>(value));
}

void GgufMetadata::add(std::string_view key, const std::vector<std::string>& texts) {
  begin_list(key, kText, texts.size());
  for (const std::string& text : texts) put_text(bytes_, text);
}

void GgufMetadata::add(std::string_view key, const std::vector<float>& values) {
  begin_list(key, kF32, values.size());
  for (const float value : values) put(bytes_, value);
}

void GgufMetadata::add(std::string_view key, const std::vector<int32_t>& values) {
  begin_list(key, kI32, values.size());
  for (const int32_t value : values) put(bytes_, value);
}

void GgufMetadata::add_bytes(std::string_view key, std::string_view bytes) {
  begin_list(key, kU8, bytes.size());
  bytes_ += bytes;
}

int64_t gguf_bytes(const GgufTensor& tensor) {
  const int64_t numel = tensor.shape.numel();
  switch (tensor.type) {
    case GgufType::F32:
      return numel * 4;
    case GgufType::Q8_0:
      return numel / kGgufBlock * (2 + kGgufBlock);
    default:
      return numel * 2;
  }
}

void write_gguf(
    Storage& storage, const std::string& path, const GgufMetadata& metadata,
    const std::vector<GgufTensor>& tensors,
    const std::function<void(size_t, const std::function<void(std::span<const float>)>&)>& data) {
  HashedFile file(storage, path);
  file.append(header_of(metadata, tensors));
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t bytes = 0;
    std::string piece;
    data(i, [&](std::span<const float> values) {
      piece.clear();
      check(put_elements(tensors[i].type, values, piece), ErrorCode::Data,
            "{} has an element that is too large for 16 bits; use --dtype bf16 or f32",
            tensors[i].name);
      file.append(piece);
      bytes += static_cast<int64_t>(piece.size());
    });
    check(bytes == gguf_bytes(tensors[i]), ErrorCode::Internal, "{}: expected {} bytes, got {}",
          tensors[i].name, gguf_bytes(tensors[i]), bytes);
    file.append(std::string(static_cast<size_t>(aligned(bytes) - bytes), '\0'));
  }
  file.finish();
}

}  // namespace ingot
