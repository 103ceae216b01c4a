// The records of a run, as run_records.def declares them: a struct of each kind, and what there is
// to say of its fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ingot {

// Positions [first, end) of the stream of samples.
struct SampleRange {
  int64_t first = 0, end = 0;
  bool operator==(const SampleRange&) const = default;
};

struct Extremes;
using Spread = std::variant<std::vector<double>, Extremes>;  // by rank, or of many

#define PART(Type, since, doc) struct Type {
#define KIND(Type, kind, since, doc) struct Type {
#define METRIC(type, name, since, unit, title, doc) type name = {};
#define END(Type)                               \
  bool operator==(const Type&) const = default; \
  }                                             \
  ;
#include "ledger/records/run_records.def"

// A record of any kind, in the order of their declarations.
#define KIND(Type, kind, since, doc) , Type
template <class, class... Kinds>
using VariantOf = std::variant<Kinds...>;
using RunRecord = VariantOf<void
#include "ledger/records/run_records.def"
                            >;

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
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// Declared<T> has what is said of a part or a kind: kName (of a kind as the ledger has it), kSince,
// kDoc, kIsKind; visit(object, visitor) calls visitor(FieldInfo, field) for each field in order.
template <class T>
struct Declared;

#define DECLARED(Type, name, since, doc, is_kind)   \
  template <>                                       \
  struct Declared<Type> {                           \
    static constexpr std::string_view kName = name; \
    static constexpr int kSince = since;            \
    static constexpr std::string_view kDoc = doc;   \
    static constexpr bool kIsKind = is_kind;        \
    template <class Object, class Visitor>          \
    static void visit(Object& object, const Visitor& visitor) {
#define PART(Type, since, doc) DECLARED(Type, #Type, since, doc, false)
#define KIND(Type, kind, since, doc) DECLARED(Type, kind, since, doc, true)
#define METRIC(type, name, since, unit, title, doc)                          \
  static_assert((since) == kSince || kIsOptional<type> || kIsList<type>,     \
                "older records have no " #name ": make it a std::optional"); \
  visitor(FieldInfo{#name, since, unit, title, doc}, object.name);
#define END(Type) \
  }               \
  }               \
  ;
#include "ledger/records/run_records.def"
#undef DECLARED

// Of what this program writes: the youngest row's.
#define METRIC(type, name, since, unit, title, doc) since,
inline constexpr int kLedgerVersion = std::max({
#include "ledger/records/run_records.def"
});

// Keys that a field had in ledgers of earlier versions. They are still read.
struct OldKey {
  std::string_view kind, old_key, key;
  int since = 0;
};
inline constexpr OldKey kOldKeys[] = {{"start", "carrier", "transport", 8},
                                      {"start", "carrier_facts", "transport_facts", 8}};

struct RunEntry {
  RecordHead head;
  RunRecord record;
};

nlohmann::json to_json(const RunEntry& entry);
// Nothing for a kind that this program does not know; fields that it does not know are passed over.
// Throws ErrorCode::Data, naming the field, where the record is not as its kind is declared.
std::optional<RunEntry> parse_run_entry(const nlohmann::json& json);

}  // namespace ingot
