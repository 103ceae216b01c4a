#include "checkpoint/exchange/gguf/value.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "core/error/error.h"

namespace ingot {
namespace {

template <class T>
T value_in(std::string_view bytes, size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

bool is_integer(GgufKind kind) {
  return kind != GgufKind::Flag && kind != GgufKind::F32 && kind != GgufKind::F64 &&
         size_of(kind) > 0;
}

int64_t integer_in(GgufKind kind, std::string_view bytes, size_t at) {
  switch (kind) {
    case GgufKind::U8:
      return value_in<uint8_t>(bytes, at);
    case GgufKind::I8:
      return value_in<int8_t>(bytes, at);
    case GgufKind::U16:
      return value_in<uint16_t>(bytes, at);
    case GgufKind::I16:
      return value_in<int16_t>(bytes, at);
    case GgufKind::U32:
      return value_in<uint32_t>(bytes, at);
    case GgufKind::I32:
      return value_in<int32_t>(bytes, at);
    default: {
      const auto wide = value_in<int64_t>(bytes, at);
      check(kind == GgufKind::I64 || wide >= 0, ErrorCode::Data,
            "expected an integer of 63 bits, got {}", static_cast<uint64_t>(wide));
      return wide;
    }
  }
}

double shortest(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  double read = 0.0;
  std::from_chars(digits, end, read);
  return read;
}

double finite(double value) {
  check(std::isfinite(value), ErrorCode::Data, "expected a finite number, got {}", value);
  return value;
}

}  // namespace

size_t size_of(GgufKind kind) {
  switch (kind) {
    case GgufKind::U8:
    case GgufKind::I8:
    case GgufKind::Flag:
      return 1;
    case GgufKind::U16:
    case GgufKind::I16:
      return 2;
    case GgufKind::U32:
    case GgufKind::I32:
    case GgufKind::F32:
      return 4;
    case GgufKind::U64:
    case GgufKind::I64:
    case GgufKind::F64:
      return 8;
    default:
      return 0;
  }
}

void GgufValue::expect(bool is, std::string_view what) const {
  constexpr std::string_view kNames[] = {"an integer", "an integer", "an integer", "an integer",
                                         "an integer", "an integer", "a number",   "a flag",
                                         "a text",     "a list",     "an integer", "an integer",
                                         "a number"};
  check(is, ErrorCode::Data, "expected {}, got {}", what, kNames[static_cast<size_t>(kind_)]);
}

bool GgufValue::flag() const {
  expect(kind_ == GgufKind::Flag, "a flag");
  const auto value = static_cast<uint8_t>(bytes_[0]);
  check(value <= 1, ErrorCode::Data, "expected a flag of 0 or 1, got {}", value);
  return value == 1;
}

int64_t GgufValue::integer() const {
  expect(is_integer(kind_), "an integer");
  return integer_in(kind_, bytes_, 0);
}

double GgufValue::number() const {
  if (kind_ == GgufKind::F32) return shortest(static_cast<float>(finite(value_in<float>(bytes_))));
  if (kind_ == GgufKind::F64) return finite(value_in<double>(bytes_));
  expect(is_integer(kind_), "a number");
  return static_cast<double>(integer());
}

std::string_view GgufValue::text() const {
  expect(kind_ == GgufKind::Text, "a text");
  return bytes_;
}

std::vector<std::string_view> GgufValue::texts() const {
  expect(kind_ == GgufKind::List && element_ == GgufKind::Text, "a list of texts");
  std::vector<std::string_view> texts;
  texts.reserve(count_);
  for (size_t at = 0; at < bytes_.size();) {
    const auto size = value_in<uint64_t>(bytes_, at);
    texts.push_back(bytes_.substr(at + sizeof(size), size));
    at += sizeof(size) + size;
  }
  return texts;
}

std::vector<int64_t> GgufValue::integers() const {
  expect(kind_ == GgufKind::List && is_integer(element_), "a list of integers");
  std::vector<int64_t> values;
  values.reserve(count_);
  for (size_t at = 0; at < bytes_.size(); at += size_of(element_))
    values.push_back(integer_in(element_, bytes_, at));
  return values;
}

std::vector<double> GgufValue::numbers() const {
  expect(kind_ == GgufKind::List && element_ == GgufKind::F32, "a list of numbers of 32 bits");
  std::vector<double> values;
  values.reserve(count_);
  for (size_t at = 0; at < bytes_.size(); at += sizeof(float))
    values.push_back(finite(value_in<float>(bytes_, at)));
  return values;
}

std::string_view GgufValue::list_bytes() const {
  expect(kind_ == GgufKind::List && size_of(element_) == 1, "a list of bytes");
  return bytes_;
}

}  // namespace ingot
