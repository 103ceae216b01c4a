// What there is to say of a record that a table (*.def) declares.
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
// Of several values: where a record has none, the field may be left out.
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsList<std::map<std::string, T>> = true;

// Declared<T> has what is said of a part or a kind: kName (of a kind as the ledger has it), kSince,
// kDoc, kIsKind; visit(object, visitor) calls visitor(FieldInfo, field) for each field in order.
template <class T>
struct Declared;

}  // namespace ingot
