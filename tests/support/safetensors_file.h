// Reads a small safetensors file whole, for golden values.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ingot::test {

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    uint64_t header_size = 0;
    std::memcpy(&header_size, bytes_.data(), sizeof header_size);
    header_ = nlohmann::json::parse(bytes_.begin() + 8,
                                    bytes_.begin() + 8 + static_cast<int64_t>(header_size));
    data_ = 8 + header_size;
  }

  std::string metadata(const std::string& key) const {
    return header_.at("__metadata__").at(key).get<std::string>();
  }
  bool has(const std::string& name) const { return header_.contains(name); }

  // Elements of a tensor; T must be as wide as the file's dtype.
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const auto& offsets = header_.at(name).at("data_offsets");
    const auto begin = offsets.at(0).get<size_t>(), end = offsets.at(1).get<size_t>();
    std::vector<T> out((end - begin) / sizeof(T));
    std::memcpy(out.data(), bytes_.data() + data_ + begin, end - begin);
    return out;
  }

 private:
  std::string bytes_;
  nlohmann::json header_;
  size_t data_ = 0;
};

}  // namespace ingot::test
