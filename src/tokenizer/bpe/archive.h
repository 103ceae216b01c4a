// Serialises plain data, for files that only this program reads, on the machine that wrote them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error/error.h"
#include "core/storage/storage.h"

namespace ingot {

template <class T>
concept PlainData = std::is_trivially_copyable_v<T>;

class ArchiveWriter {
 public:
  template <PlainData T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <PlainData T>
  void put_all(std::span<const T> values) {
    put(static_cast<uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  template <PlainData T>
  void put_all(const std::vector<T>& values) {
    put_all(std::span<const T>(values));
  }
  void put_text(std::string_view text) { put_all(std::span<const char>(text)); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads a file's bytes [begin, end). Throws ErrorCode::Data if they end too early.
class ArchiveReader {
 public:
  ArchiveReader(const ReadableFile& file, int64_t begin, int64_t end)
      : file_(file), at_(begin), end_(end) {}

  template <PlainData T>
  T get() {
    T value{};
    read(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  // The number of values that follow; the remaining bytes hold that many.
  template <PlainData T>
  size_t count() {
    const auto values = get<uint64_t>();
    check(values <= static_cast<uint64_t>(end_ - at_) / sizeof(T), ErrorCode::Data,
          "expected {} values, the file ends before", values);
    return values;
  }
  template <PlainData T>
  void get_all(std::span<T> values) {  // as many as count() gave
    read(std::as_writable_bytes(values));
  }
  template <PlainData T>
  std::vector<T> get_all() {
    std::vector<T> values(count<T>());
    get_all(std::span(values));
    return values;
  }
  std::string get_text() {
    std::string text(count<char>(), '\0');
    get_all(std::span(text));
    return text;
  }
  bool at_end() const { return at_ == end_; }

 private:
  void read(std::span<std::byte> into) {
    check(static_cast<int64_t>(into.size()) <= end_ - at_, ErrorCode::Data, "the file is short");
    file_.read(at_, into);
    at_ += static_cast<int64_t>(into.size());
  }

  const ReadableFile& file_;
  int64_t at_, end_;
};

inline void check_archived(bool holds, const char* what) {
  check(holds, ErrorCode::Data, "expected {}", what);
}

}  // namespace ingot
