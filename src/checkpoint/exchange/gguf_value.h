// A value in the metadata of a GGUF file: a view of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ingot {

// The values are those of the file.
enum class GgufKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Flag, Text, List, U64, I64, F64 };

// Bytes of a value that is always as long; 0: a text or a list.
size_t size_of(GgufKind kind);

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

}  // namespace ingot
