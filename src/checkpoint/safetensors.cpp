#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "checkpoint/unique_json.h"
#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_problem.h"

namespace ingot {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kMaxHeaderBytes = int64_t{100} << 20;  // the limit the format's own readers have

// What the format calls its dtypes. Weights are the first four; the others stand beside them in
// files of other programs (masks, positions).
constexpr std::pair<std::string_view, DType> kDTypes[] = {
    {"F64", DType::F64},        {"F32", DType::F32},        {"BF16", DType::BF16},
    {"F16", DType::F16},        {"I64", DType::I64},        {"I32", DType::I32},
    {"U32", DType::U32},        {"U16", DType::U16},        {"U8", DType::U8},
    {"F8_E4M3", DType::F8E4M3}, {"F8_E5M2", DType::F8E5M2}, {"I16", DType::U16},
    {"I8", DType::U8},          {"BOOL", DType::U8}};

std::string_view name_in_file(DType dtype) {
  for (const auto& [name, known] : kDTypes)
    if (known == dtype) return name;
  throw Error(ErrorCode::Internal, fmt::format("safetensors have no {}", name_of(dtype)));
}

DType dtype_in_file(const std::string& wanted) {
  for (const auto& [name, dtype] : kDTypes)
    if (name == wanted) return dtype;
  throw Error(ErrorCode::Data, fmt::format("expected a dtype such as F32 or BF16, got {}", wanted));
}

[[noreturn]] void damaged(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::Data,
              fmt::format("'{}' is not a sound safetensors file: {}; get it again, "
                          "or use another checkpoint",
                          path, why));
}

SafetensorsEntry parse_entry(const nlohmann::json& entry, int64_t data_begin, int64_t file_bytes) {
  SafetensorsEntry parsed;
  parsed.dtype = dtype_in_file(entry.at("dtype").get<std::string>());
  parsed.numel = 1;
  for (const auto& json : entry.at("shape")) {
    const int64_t extent = integer_of(json);
    // A header can multiply to more than any integer; no file holds more elements than bytes.
    check(0 <= extent && (parsed.numel == 0 || extent <= file_bytes / parsed.numel),
          ErrorCode::Data, "a tensor's extent {} does not fit into the file", extent);
    parsed.numel *= extent;
    parsed.shape.append(extent);
  }
  const auto& offsets = entry.at("data_offsets");
  const int64_t begin = integer_of(offsets.at(0)), end = integer_of(offsets.at(1));
  check(offsets.size() == 2, ErrorCode::Data, "a tensor has more than two offsets");
  check(0 <= begin && begin <= end && end <= file_bytes - data_begin, ErrorCode::Data,
        "a tensor's data [{}, {}) lies outside the file", begin, end);
  const int64_t size = size_of(parsed.dtype);
  check((end - begin) % size == 0 && (end - begin) / size == parsed.numel, ErrorCode::Data,
        "a tensor of {} elements of {}: got {} bytes", parsed.numel, name_of(parsed.dtype),
        end - begin);
  parsed.offset = data_begin + begin;
  return parsed;
}

// The format's own readers refuse it too where tensors overlap or bytes are no tensor's: such a
// file is damaged, or was made to be read in two ways.
void check_covered(const std::map<std::string, SafetensorsEntry>& entries, int64_t at,
                   int64_t file_bytes) {
  std::vector<std::pair<int64_t, int64_t>> ranges;  // of bytes
  for (const auto& [name, entry] : entries)
    ranges.emplace_back(entry.offset, entry.offset + entry.numel * size_of(entry.dtype));
  std::ranges::sort(ranges);
  for (const auto& [begin, end] : ranges) {
    check(begin == at, ErrorCode::Data, "tensors {} at byte {}",
          begin < at ? "overlap" : "leave a gap", std::min(begin, at));
    at = end;
  }
  check(at == file_bytes, ErrorCode::Data, "{} bytes follow the last tensor", file_bytes - at);
}

nlohmann::json extents(const Shape& shape) {
  auto list = nlohmann::json::array();
  for (int dim = 0; dim < shape.rank(); ++dim) list.push_back(shape[dim]);
  return list;
}

}  // namespace

std::string safetensors_header(const std::vector<SafetensorsTensor>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const auto& [name, shape, dtype] : tensors) {
    const int64_t end = at + shape.numel() * size_of(dtype);
    header[name] = {
        {"dtype", name_in_file(dtype)}, {"shape", extents(shape)}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string json = header.dump();
  json.append((kLengthBytes - json.size() % kLengthBytes) % kLengthBytes, ' ');  // aligns the data
  std::string length;
  for (int byte = 0; byte < kLengthBytes; ++byte) {
    length += static_cast<char>((json.size() >> (8 * byte)) & 0xff);
  }
  return length + json;
}

FileFacts write_safetensors(Storage& storage, const std::string& path,
                            const std::vector<SafetensorsTensor>& tensors,
                            const std::function<void(size_t, const PutElements&)>& data,
                            const std::map<std::string, std::string>& metadata) {
  HashedFile file(storage, path);
  file.append(safetensors_header(tensors, metadata));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, shape, dtype] = tensors[i];
    int64_t put = 0;
    data(i, [&](const Tensor& piece) {
      check(piece.is_contiguous() && piece.dtype == tensors[i].dtype, ErrorCode::Internal,
            "{} of {}: expected contiguous elements of {}, got {}", tensors[i].name, path,
            name_of(tensors[i].dtype), piece);
      file.append(
          std::span(static_cast<const std::byte*>(piece.data), static_cast<size_t>(piece.bytes())));
      put += piece.numel();
    });
    check(put == shape.numel(), ErrorCode::Internal, "{} of {}: expected {} elements, got {}", name,
          path, shape.numel(), put);
  }
  return file.finish();
}

std::map<std::string, SafetensorsEntry> read_safetensors_header(const ReadableFile& file,
                                                                const std::string& path) {
  if (file.size() < kLengthBytes) damaged(path, "it is shorter than a header");
  std::array<std::byte, kLengthBytes> length_bytes;
  file.read(0, length_bytes);
  uint64_t length = 0;
  for (size_t byte = 0; byte < length_bytes.size(); ++byte) {
    length |= std::to_integer<uint64_t>(length_bytes[byte]) << (8 * byte);
  }
  if (std::memcmp(length_bytes.data(), "version ", length_bytes.size()) == 0)
    damaged(path, "it is git-lfs's pointer to the file, which \"git lfs pull\" gets");
  const int64_t room = std::min(file.size() - kLengthBytes, kMaxHeaderBytes);
  if (length > static_cast<uint64_t>(room)) {
    damaged(path, fmt::format("its header claims {} bytes, {} are possible", length, room));
  }
  std::string json(length, '\0');
  file.read(kLengthBytes, std::as_writable_bytes(std::span(json)));
  const int64_t data_begin = kLengthBytes + static_cast<int64_t>(length);
  std::map<std::string, SafetensorsEntry> entries;
  try {
    const auto header = parse_unique_json(json);
    check(header.is_object(), ErrorCode::Data, "its header is no JSON object");
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      entries[name] = parse_entry(entry, data_begin, file.size());
    }
    check_covered(entries, data_begin, file.size());
  } catch (const nlohmann::json::exception& error) {
    damaged(path, json_problem(error));
  } catch (const Error& error) {
    damaged(path, error.what());
  }
  return entries;
}

}  // namespace ingot
