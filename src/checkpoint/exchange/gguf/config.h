// Reads the model's shape from the metadata of a GGUF file.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "checkpoint/exchange/gguf/header.h"
#include "core/error/error.h"
#include "spec/model/model_config.h"

namespace ingot {

// Tracks the keys that were read, so that unread ones can be rejected. All functions throw
// ErrorCode::Data naming the key for a value of another type.
class GgufFields {
 public:
  explicit GgufFields(const GgufHeader& header) : header_(header) {}

  const GgufValue* find(std::string_view key);  // null: absent
  int64_t integer(std::string_view key);        // throws if absent
  int64_t integer(std::string_view key, int64_t otherwise);
  double number(std::string_view key);
  double number(std::string_view key, double otherwise);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  // Converts the value of a required key with `read`, which may throw.
  template <class Read>
  auto list(std::string_view key, Read read) {
    return read_value(key, must_find(key), read);
  }
  // Keys with this prefix that were not read.
  std::vector<std::string> others(std::string_view prefix) const;

 private:
  const GgufValue& must_find(std::string_view key);
  [[noreturn]] static void refuse(std::string_view key, std::string_view why);
  template <class Read>
  auto read_value(std::string_view key, const GgufValue& value, Read read) {
    std::string why;
    try {
      return read(value);
    } catch (const Error& error) {
      why = error.what();
    }
    refuse(key, why);
  }

  const GgufHeader& header_;
  std::set<std::string, std::less<>> taken_;
};

struct GgufModel {
  const Architecture* architecture = nullptr;
  ModelConfig model;  // rotary pairs as in the file
};

// `divisors`: rope_freqs.weight of the file, empty if absent; `tied`: whether the head is the
// embedding. Throws ErrorCode::Data naming the key if the family is unknown, a value is missing or
// unsupported, or an unknown key might change the computation.
GgufModel gguf_model_of(const GgufHeader& header, const std::vector<float>& divisors, bool tied);

// Logs the ignored keys of the file and their number.
void warn_of_ignored_keys(const GgufHeader& header, std::string_view architecture);

}  // namespace ingot
