// The subset of protocol buffers' wire format that SentencePiece models use.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace ingot {

// Reads the fields of one message in order. Input is not trusted: next() returns nothing at the end
// of the message and for malformed input; malformed() tells which.
class WireReader {
 public:
  enum class Type : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  struct Field {
    uint64_t number;
    Type type;
    uint64_t value;          // of Varint, Fixed32 and Fixed64
    std::string_view bytes;  // of Bytes; views the message

    bool flag() const { return value != 0; }
    float real() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
  };

  explicit WireReader(std::string_view message) : rest_(message) {}

  std::optional<Field> next() {
    if (rest_.empty() || malformed_) return {};
    const auto field = read();
    malformed_ = !field;
    return field;
  }
  bool malformed() const { return malformed_; }
  size_t bytes_left() const { return rest_.size(); }

 private:
  std::optional<Field> read() {
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag > UINT32_MAX) return {};
    Field field{*tag >> 3, static_cast<Type>(*tag & 7), 0, {}};
    switch (field.type) {
      case Type::Varint:
        if (const auto value = varint()) {
          field.value = *value;
          return field;
        }
        return {};
      case Type::Bytes: {
        const auto size = varint();
        if (!size || *size > rest_.size()) return {};
        field.bytes = take(static_cast<size_t>(*size));
        return field;
      }
      case Type::Fixed32:
      case Type::Fixed64: {
        const size_t size = field.type == Type::Fixed32 ? 4 : 8;
        if (size > rest_.size()) return {};
        std::memcpy(&field.value, take(size).data(), size);  // little-endian, like this program
        return field;
      }
    }
    return {};
  }

  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = static_cast<uint8_t>(rest_[i]);
      value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        take(i + 1);
        return value;
      }
    }
    return {};
  }

  std::string_view take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

// Writes the fields of one message.
class WireWriter {
 public:
  WireWriter& varint(uint64_t field, uint64_t value) {
    raw_varint(field << 3);
    raw_varint(value);
    return *this;
  }
  WireWriter& bytes(uint64_t field, std::string_view value) {
    raw_varint(field << 3 | 2);
    raw_varint(value.size());
    message_ += value;
    return *this;
  }
  WireWriter& real(uint64_t field, float value) {
    raw_varint(field << 3 | 5);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    message_.append(raw, sizeof value);
    return *this;
  }
  const std::string& message() const { return message_; }

 private:
  void raw_varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
    message_ += static_cast<char>(value);
  }
  std::string message_;
};

}  // namespace ingot
