// A GGUF file as it is read: its metadata, and where its tensors lie. Bytes are not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/gguf_file.h"
#include "core/storage.h"

namespace ingot {

// The values are those of the file.
enum class GgufKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Flag, Text, List, U64, I64, F64 };

// A value of the metadata. All but kind() throw ErrorCode::Data, saying what was expected, where it
// is of another kind or out of range.
class GgufValue {
 public:
  GgufValue(GgufKind kind, std::string_view bytes) : kind_(kind), bytes_(bytes) {}
  GgufValue(GgufKind element, uint64_t count, std::string_view bytes)
      : kind_(GgufKind::List), element_(element), count_(count), bytes_(bytes) {}

  GgufKind kind() const { return kind_; }
  bool flag() const;
  int64_t integer() const;  // of any width
  // Of 32 bits the shortest decimal that they stand for: 1e-5 is 1e-5. Finite.
  double number() const;
  std::string_view text() const;
  std::vector<std::string_view> texts() const;
  std::vector<int64_t> integers() const;
  std::vector<double> numbers() const;  // as they are stored; finite
  std::string_view list_bytes() const;  // of elements of 8 bits

 private:
  void expect(bool is, std::string_view what) const;
  GgufKind kind_, element_ = GgufKind::U8;
  uint64_t count_ = 0;
  std::string_view bytes_;  // of a list those of its elements
};

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
