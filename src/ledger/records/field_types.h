// How each type of a record's field is written, read and named. For the sources of this folder.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.h"
#include "core/json/json_member.h"
#include "ledger/records/declared.h"

namespace ingot {

// FieldType<T> has name() for the reference page, write(value), and read(json), which throws
// ErrorCode::Data for another type.
template <class T>
struct FieldType;

inline void expect_type(const nlohmann::json& got, bool is_it, std::string_view expected) {
  constexpr size_t kMaxShown = 80;
  if (is_it) return;
  std::string text = got.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  throw Error(ErrorCode::Data, fmt::format("expected {}, got {}", expected, text));
}

template <>
struct FieldType<int64_t> {
  static std::string name() { return "integer"; }
  static nlohmann::json write(int64_t value) { return value; }
  static int64_t read(const nlohmann::json& json) {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() || json.get<uint64_t>() <= uint64_t{INT64_MAX});
    expect_type(json, fits, "an integer of 64 bits");
    return json.get<int64_t>();
  }
};

template <>
struct FieldType<uint64_t> {
  static std::string name() { return "integer from 0"; }
  static nlohmann::json write(uint64_t value) { return value; }
  static uint64_t read(const nlohmann::json& json) {
    expect_type(json, json.is_number_unsigned(), "an integer from 0");
    return json.get<uint64_t>();
  }
};

// A number that is not finite is null, because JSON cannot write it.
template <>
struct FieldType<double> {
  static std::string name() { return "number"; }
  static nlohmann::json write(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  }
  static double read(const nlohmann::json& json) {
    if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
    expect_type(json, json.is_number(), "a number");
    return json.get<double>();
  }
};

template <>
struct FieldType<bool> {
  static std::string name() { return "true or false"; }
  static nlohmann::json write(bool value) { return value; }
  static bool read(const nlohmann::json& json) {
    expect_type(json, json.is_boolean(), "true or false");
    return json.get<bool>();
  }
};

template <>
struct FieldType<std::string> {
  static std::string name() { return "text"; }
  static nlohmann::json write(const std::string& value) { return value; }
  static std::string read(const nlohmann::json& json) {
    expect_type(json, json.is_string(), "a text");
    return json.get<std::string>();
  }
};

// An object whose form another part of the program defines.
template <>
struct FieldType<nlohmann::json> {
  static std::string name() { return "object"; }
  static nlohmann::json write(const nlohmann::json& value) { return value; }
  static nlohmann::json read(const nlohmann::json& json) {
    expect_type(json, json.is_object(), "an object");
    return json;
  }
};

template <class T>
struct FieldType<std::vector<T>> {
  static std::string name() { return "list of: " + FieldType<T>::name(); }
  static nlohmann::json write(const std::vector<T>& values) {
    auto list = nlohmann::json::array();
    for (const T& value : values) list.push_back(FieldType<T>::write(value));
    return list;
  }
  static std::vector<T> read(const nlohmann::json& json) {
    expect_type(json, json.is_array(), "a list");
    std::vector<T> values;
    for (size_t i = 0; i < json.size(); ++i)
      values.push_back(at_member<nlohmann::json>(std::to_string(i),
                                                 [&] { return FieldType<T>::read(json[i]); }));
    return values;
  }
};

template <class T>
struct FieldType<std::map<std::string, T>> {
  static std::string name() { return "object of: " + FieldType<T>::name(); }
  static nlohmann::json write(const std::map<std::string, T>& values) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : values) object[key] = FieldType<T>::write(value);
    return object;
  }
  static std::map<std::string, T> read(const nlohmann::json& json) {
    expect_type(json, json.is_object(), "an object");
    std::map<std::string, T> values;
    for (const auto& [key, value] : json.items())
      values[key] =
          at_member<nlohmann::json>(key, [&, &from = value] { return FieldType<T>::read(from); });
    return values;
  }
};

template <class T>
struct FieldType<std::optional<T>> : FieldType<T> {};

// A part or a kind: an object with its fields.
template <class T>
struct FieldType {
  static std::string name() { return std::string(Declared<T>::kName); }
  static nlohmann::json write(const T& object) {
    auto json = nlohmann::json::object();
    write_fields(object, json);
    return json;
  }
  static T read(const nlohmann::json& json) {
    expect_type(json, json.is_object(), "an object");
    T object;
    Declared<T>::visit(object, [&](const FieldInfo& field, auto& value) {
      read_field(json, std::string(field.name), value);
    });
    return object;
  }

  static void write_fields(const T& object, nlohmann::json& json) {
    Declared<T>::visit(object, [&]<class V>(const FieldInfo& field, const V& value) {
      const std::string name(field.name);
      if constexpr (kIsOptional<V>) {
        if (value)
          json[name] = FieldType<V>::write(*value);
        else if (field.is_metric())
          json[name] = nullptr;
      } else if constexpr (kIsList<V>) {
        if (!value.empty()) json[name] = FieldType<V>::write(value);
      } else {
        json[name] = FieldType<V>::write(value);
      }
    });
  }

 private:
  template <class V>
  static void read_field(const nlohmann::json& json, const std::string& name, V& value) {
    const auto found = json.find(name);
    if constexpr (kIsOptional<V>) {
      if (found == json.end() || found->is_null()) return;
    } else if constexpr (kIsList<V>) {
      if (found == json.end()) return;
    } else {
      if (found == json.end()) throw MemberError({name}, fmt::format("\"{}\" is missing", name));
    }
    value = at_member<nlohmann::json>(name, [&] { return FieldType<V>::read(*found); });
  }
};

}  // namespace ingot
