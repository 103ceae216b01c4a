// What the metadata of a GGUF file says of the model: the shape that llama.cpp computes by it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "checkpoint/exchange/gguf_header.h"
#include "core/error/error.h"
#include "spec/model/model_config.h"

namespace ingot {

// Values that were asked for, so that the others can be refused. All throw ErrorCode::Data, naming
// the key, for a value of another kind.
class GgufFields {
 public:
  explicit GgufFields(const GgufHeader& header) : header_(header) {}

  const GgufValue* find(std::string_view key);  // null: not there
  int64_t integer(std::string_view key);        // must be there
  int64_t integer(std::string_view key, int64_t otherwise);
  double number(std::string_view key);
  double number(std::string_view key, double otherwise);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  // What `read` makes of the value of the key, which must be there; it may throw.
  template <class Read>
  auto list(std::string_view key, Read read) {
    return read_value(key, must_find(key), read);
  }
  // Keys that begin so and were not asked for.
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
  ModelConfig model;  // rotary pairs stand as the file has them
};

// `divisors`: rope_freqs.weight of the file, empty where it has none; `tied`: whether the head is
// the embedding. Throws ErrorCode::Data, naming the key, where the model is of no known family, a
// value is missing or not computed here, or a key is not known that could change what is computed.
GgufModel gguf_model_of(const GgufHeader& header, const std::vector<float>& divisors, bool tied);

// Logs the keys of the file that nothing was made of, with their count.
void warn_of_ignored_keys(const GgufHeader& header, std::string_view architecture);

}  // namespace ingot
