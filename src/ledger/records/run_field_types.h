// How field types that only a run's records have are written, read and named. For the sources of
// this folder.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ledger/records/field_types.h"
#include "ledger/records/run_records.h"

namespace ingot {

template <>
struct FieldType<SampleRange> {
  static std::string name() { return "[integer, integer]"; }
  static nlohmann::json write(const SampleRange& range) { return {range.first, range.end}; }
  static SampleRange read(const nlohmann::json& json) {
    expect_type(json, json.is_array() && json.size() == 2, "a list of two integers");
    return {FieldType<int64_t>::read(json[0]), FieldType<int64_t>::read(json[1])};
  }
};

template <>
struct FieldType<Spread> {
  using Values = std::vector<double>;
  static std::string name() {
    return fmt::format("{}, or {}", FieldType<Values>::name(), Declared<Extremes>::kName);
  }
  static nlohmann::json write(const Spread& spread);
  static Spread read(const nlohmann::json& json);
};

inline nlohmann::json FieldType<Spread>::write(const Spread& spread) {
  return std::visit([]<class V>(const V& values) { return FieldType<V>::write(values); }, spread);
}

inline Spread FieldType<Spread>::read(const nlohmann::json& json) {
  if (json.is_array()) return FieldType<Values>::read(json);
  return FieldType<Extremes>::read(json);
}

}  // namespace ingot
