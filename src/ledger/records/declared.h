// The declarations that a table (*.def) makes, as types and values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct FieldInfo {
  std::string_view name;
  int since = 0;
  std::string_view unit, title, doc;
  bool is_metric() const { return !title.empty(); }
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
// A field with several values: if it has none, a record may leave it out.
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsList<std::map<std::string, T>> = true;

// Declared<T> describes a part or a kind: kName (a kind's name in the ledger), kSince, kDoc and
// kIsKind. Its visit(object, visitor) calls visitor(FieldInfo, field) for each field in order.
template <class T>
struct Declared;

}  // namespace ingot
