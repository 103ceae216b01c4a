#include "parallel/comm/tcp/message.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot::tcp {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kLengthBytes = 4;
constexpr size_t kFixedBytes = 1 + 1 + 4 + 8 + 4 + 4;  // of a frame without texts

template <class T>
void put(std::string& bytes, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
}

template <class T>
T get(std::string_view& bytes) {
  check(bytes.size() >= sizeof(T), ErrorCode::Comm, "a message ends early");
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  bytes.remove_prefix(sizeof(T));
  return static_cast<T>(value);
}

std::string get_text(std::string_view& bytes) {
  const auto length = get<uint32_t>(bytes);
  check(length <= bytes.size(), ErrorCode::Comm, "a message ends early");
  std::string text(bytes.substr(0, length));
  bytes.remove_prefix(length);
  return text;
}

Message decode(std::string_view bytes) {
  const auto version = get<uint8_t>(bytes);
  check(version == kVersion, ErrorCode::Comm,
        "the other end speaks version {} of the protocol of ranks, this program {}: run the same "
        "build everywhere",
        version, kVersion);
  Message message;
  const auto kind = get<uint8_t>(bytes);
  check(kind < static_cast<uint8_t>(Kind::Count_), ErrorCode::Comm, "a message of no kind");
  message.kind = static_cast<Kind>(kind);
  message.rank = get<int32_t>(bytes);
  message.number = get<int64_t>(bytes);
  message.name = get_text(bytes);
  message.text = get_text(bytes);
  check(bytes.empty(), ErrorCode::Comm, "a message with something behind it");
  return message;
}

}  // namespace

std::string encode(const Message& message) {
  std::string bytes;
  const size_t length = kFixedBytes + message.name.size() + message.text.size();
  check(length <= kMaxFrame, ErrorCode::Internal,
        "host plane: expected texts of at most {} bytes, got {}", kMaxText, length);
  bytes.reserve(kLengthBytes + length);
  put(bytes, static_cast<uint32_t>(length));
  put(bytes, kVersion);
  put(bytes, static_cast<uint8_t>(message.kind));
  put(bytes, static_cast<int32_t>(message.rank));
  put(bytes, message.number);
  for (const std::string* text : {&message.name, &message.text}) {
    put(bytes, static_cast<uint32_t>(text->size()));
    bytes += *text;
  }
  return bytes;
}

size_t FrameReader::missing() const {
  return frame_.size() < kLengthBytes ? kLengthBytes - frame_.size()
                                      : kLengthBytes + length_ - frame_.size();
}

std::optional<Message> FrameReader::add(std::span<const std::byte> bytes) {
  check(bytes.size() <= missing(), ErrorCode::Internal, "bytes of the next frame");
  frame_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (frame_.size() < kLengthBytes) return std::nullopt;
  if (frame_.size() == kLengthBytes) {
    std::string_view length(frame_);
    length_ = get<uint32_t>(length);
    check(length_ >= kFixedBytes && length_ <= longest_, ErrorCode::Comm,
          "expected a message of a rank, got something else");
    return std::nullopt;
  }
  if (missing() > 0) return std::nullopt;
  Message message = decode(std::string_view(frame_).substr(kLengthBytes));
  frame_.clear();
  return message;
}

}  // namespace ingot::tcp
