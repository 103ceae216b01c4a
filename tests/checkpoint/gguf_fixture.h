// GGUF files of small models, and a reader of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/exchange/gguf/export.h"
#include "checkpoint/hf_fixture.h"

namespace ingot::checkpoint_test {

// What a reader of the format finds: just enough of one.
class Gguf {
 public:
  struct Entry {
    std::vector<uint64_t> extents;
    uint32_t type = 0;
    uint64_t offset = 0;
  };

  explicit Gguf(std::string file) : file_(std::move(file)) {
    EXPECT_EQ(file_.substr(0, 4), "GGUF");
    at_ = 4;
    EXPECT_EQ(take<uint32_t>(), 3u);
    const auto tensors = take<uint64_t>(), keys = take<uint64_t>();
    for (uint64_t i = 0; i < keys; ++i) {
      const std::string key = text();
      metadata[key] = value(take<uint32_t>());
    }
    for (uint64_t i = 0; i < tensors; ++i) {
      const std::string name = text();
      Entry& entry = entries[name];
      entry.extents.resize(take<uint32_t>());
      for (uint64_t& extent : entry.extents) extent = take<uint64_t>();
      entry.type = take<uint32_t>();
      entry.offset = take<uint64_t>();
      EXPECT_EQ(entry.offset % 32, 0u);
    }
    data_ = (at_ + 31) / 32 * 32;
  }

  std::string bytes(const std::string& name, size_t size) const {
    return file_.substr(data_ + entries.at(name).offset, size);
  }
  std::vector<float> floats(const std::string& name, size_t count) const {
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes(name, 4 * count).data(), 4 * count);
    return values;
  }

  std::map<std::string, Json> metadata;
  std::map<std::string, Entry> entries;

 private:
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, file_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  std::string text() {
    const auto size = take<uint64_t>();
    at_ += size;
    return file_.substr(at_ - size, size);
  }
  Json value(uint32_t type) {
    switch (type) {
      case 0:
        return take<uint8_t>();
      case 4:
        return take<uint32_t>();
      case 5:
        return take<int32_t>();
      case 6:
        return take<float>();
      case 7:
        return take<uint8_t>() != 0;
      case 8:
        return text();
      default: {
        const auto of = take<uint32_t>();
        const auto count = take<uint64_t>();
        Json list = Json::array();
        for (uint64_t i = 0; i < count; ++i) list.push_back(value(of));
        return list;
      }
    }
  }

  std::string file_;
  size_t at_ = 0, data_ = 0;
};

inline ModelConfig small_model() {
  ModelConfig model = parse_hf_config(llama_config().dump(), "").model;
  model.dim = 32;
  model.head_dim = 16;
  model.ffn = 48;  // no whole blocks
  return model;
}

inline Gguf exported(const ModelConfig& model, GgufType type,
                     const AuxiliaryFiles& auxiliary_files = {}) {
  const MadeWeights weights(hf_value, model);
  const auto storage = memory_storage();
  export_gguf(*storage, weights, auxiliary_files, "model.gguf", type);
  EXPECT_EQ(storage->list("."), std::vector<std::string>{"model.gguf"});
  return Gguf(read_text(*storage, "model.gguf"));
}

}  // namespace ingot::checkpoint_test
