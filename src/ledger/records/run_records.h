// The records of a run that run_records.def declares: a struct for each kind, and the declarations
// of its fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ledger/records/declared.h"

namespace ingot {

// Positions [first, end) of the stream of samples.
struct SampleRange {
  int64_t first = 0, end = 0;
  bool operator==(const SampleRange&) const = default;
};

struct Extremes;
using Spread = std::variant<std::vector<double>, Extremes>;  // by rank; Extremes of many ranks

#include "ledger/records/begin_structs.h"
#include "ledger/records/run_records.def"

// A record of any kind; kinds are in the order of their declarations.
#define KIND(Type, kind, since, doc) , Type
template <class, class... Kinds>
using VariantOf = std::variant<Kinds...>;
using RunRecord = VariantOf<void
#include "ledger/records/run_records.def"
                            >;

#include "ledger/records/begin_declared.h"
#include "ledger/records/run_records.def"

// The version of what this program writes: that of the newest row.
#define METRIC(type, name, since, unit, title, doc) since,
inline constexpr int kLedgerVersion = std::max({
#include "ledger/records/run_records.def"
});

// Keys of fields in ledgers of earlier versions. They are still read.
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
// Nothing for a kind that this program does not know. Unknown fields are ignored. Throws
// ErrorCode::Data, naming the field, if the record does not match the declaration of its kind.
std::optional<RunEntry> parse_run_entry(const nlohmann::json& json);

}  // namespace ingot
