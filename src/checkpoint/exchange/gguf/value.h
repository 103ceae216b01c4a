// A value in the metadata of a GGUF file: a view of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ingot {

// Values as in the file.
enum class GgufKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Flag, Text, List, U64, I64, F64 };

// The size of a fixed-size value; 0: a text or a list.
size_t size_of(GgufKind kind);

// A metadata value. All functions but kind() throw ErrorCode::Data with the expected type if it has
// another type or is out of range.
class GgufValue {
 public:
  GgufValue(GgufKind kind, std::string_view bytes) : kind_(kind), bytes_(bytes) {}
  GgufValue(GgufKind element, uint64_t count, std::string_view bytes)
      : kind_(GgufKind::List), element_(element), count_(count), bytes_(bytes) {}

  GgufKind kind() const { return kind_; }
  bool flag() const;
  int64_t integer() const;  // of any width
  // 32-bit values become the shortest decimal that they represent: 1e-5 is 1e-5. Finite.
  double number() const;
  std::string_view text() const;
  std::vector<std::string_view> texts() const;
  std::vector<int64_t> integers() const;
  std::vector<double> numbers() const;  // exact; finite
  std::string_view list_bytes() const;  // the elements have 8 bits

 private:
  void expect(bool is, std::string_view what) const;
  GgufKind kind_, element_ = GgufKind::U8;
  uint64_t count_ = 0;
  std::string_view bytes_;  // of a list: its elements
};

}  // namespace ingot
