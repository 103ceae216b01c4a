#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/json_integer.h"
#include "core/json_problem.h"

namespace ingot {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kMaxHeaderBytes = int64_t{100} << 20;  // the limit the format's own readers have

// What the format calls the dtypes that checkpoints hold.
constexpr std::array kDTypes = {std::pair{"F64", DType::F64}, std::pair{"F32", DType::F32},
                                std::pair{"BF16", DType::BF16}};

std::string name_in_file(DType dtype) {
  for (const auto& [name, known] : kDTypes)
    if (known == dtype) return name;
  throw Error(ErrorCode::Internal,
              fmt::format("a checkpoint holds f64, f32 and bf16, not {}", name_of(dtype)));
}

DType dtype_in_file(const std::string& wanted) {
  for (const auto& [name, dtype] : kDTypes)
    if (name == wanted) return dtype;
  throw Error(ErrorCode::Data, fmt::format("expected F64, F32 or BF16 tensors, got {}", wanted));
}

[[noreturn]] void damaged(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::Data, fmt::format("'{}' is not a sound safetensors file: {}; use another "
                                           "checkpoint",
                                           path, why));
}

SafetensorsEntry parse_entry(const nlohmann::json& entry, int64_t data_begin, int64_t file_bytes) {
  const DType dtype = dtype_in_file(entry.at("dtype").get<std::string>());
  check(entry.at("shape").size() == 1, ErrorCode::Data, "expected flat tensors, got one of rank {}",
        entry.at("shape").size());
  const int64_t numel = integer_of(entry.at("shape").at(0));
  const int64_t begin = integer_of(entry.at("data_offsets").at(0));
  const int64_t end = integer_of(entry.at("data_offsets").at(1));
  check(0 <= begin && begin <= end && end <= file_bytes - data_begin, ErrorCode::Data,
        "a tensor's data [{}, {}) lies outside the file", begin, end);
  // Not numel times size, which a header can make larger than any integer.
  check((end - begin) % size_of(dtype) == 0 && (end - begin) / size_of(dtype) == numel,
        ErrorCode::Data, "a tensor of {} elements of {}: got {} bytes", numel, name_of(dtype),
        end - begin);
  return {data_begin + begin, numel, dtype};
}

// All that stands before the data.
std::string header_of(const std::vector<SafetensorsTensor>& tensors) {
  nlohmann::json header = nlohmann::json::object();
  int64_t at = 0;
  for (const auto& [name, numel, dtype] : tensors) {
    const int64_t end = at + numel * size_of(dtype);
    header[name] = {
        {"dtype", name_in_file(dtype)}, {"shape", {numel}}, {"data_offsets", {at, end}}};
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

}  // namespace

FileFacts write_safetensors(Storage& storage, const std::string& path,
                            const std::vector<SafetensorsTensor>& tensors,
                            const std::function<Tensor(size_t)>& data) {
  HashedFile file(storage, path);
  file.append(header_of(tensors));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor tensor = data(i);
    const auto& [name, numel, dtype] = tensors[i];
    check(tensor.is_contiguous() && tensor.numel() == numel && tensor.dtype == dtype,
          ErrorCode::Internal, "{} of a checkpoint: expected {} contiguous elements of {}, got {}",
          name, numel, name_of(dtype), tensor.str());
    file.append(
        std::span(static_cast<const std::byte*>(tensor.data), static_cast<size_t>(tensor.bytes())));
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
  const int64_t room = std::min(file.size() - kLengthBytes, kMaxHeaderBytes);
  if (length > static_cast<uint64_t>(room)) {
    damaged(path, fmt::format("its header claims {} bytes, {} are possible", length, room));
  }
  std::string json(length, '\0');
  file.read(kLengthBytes, std::as_writable_bytes(std::span(json)));
  const int64_t data_begin = kLengthBytes + static_cast<int64_t>(length);
  std::map<std::string, SafetensorsEntry> entries;
  try {
    const auto header = nlohmann::json::parse(json);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      entries[name] = parse_entry(entry, data_begin, file.size());
    }
  } catch (const nlohmann::json::exception& error) {
    damaged(path, json_problem(error));
  } catch (const Error& error) {
    damaged(path, error.what());
  }
  return entries;
}

}  // namespace ingot
