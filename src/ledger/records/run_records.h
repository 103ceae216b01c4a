// The records of a run, as run_records.def declares them: a struct of each kind, and what there is
// to say of its fields.
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
using Spread = std::variant<std::vector<double>, Extremes>;  // by rank, or of many

#include "ledger/records/begin_structs.h"
#include "ledger/records/run_records.def"

// A record of any kind, in the order of their declarations.
#define KIND(Type, kind, since, doc) , Type
template <class, class... Kinds>
using VariantOf = std::variant<Kinds...>;
using RunRecord = VariantOf<void
#include "ledger/records/run_records.def"
                            >;

#include "ledger/records/begin_declared.h"
#include "ledger/records/run_records.def"

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
