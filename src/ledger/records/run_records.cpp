#include "ledger/records/run_records.h"

#include "core/error/error.h"
#include "ledger/records/run_field_types.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

constexpr const char* kKindKey = "kind";

// The record with each value under the key that its field has today.
Json with_new_keys(std::string_view kind, Json json) {
  for (const OldKey& row : kOldKeys)
    if (row.kind == kind && json.contains(row.old_key) && !json.contains(row.key))
      json[std::string(row.key)] = json[std::string(row.old_key)];
  return json;
}

template <class Kind>
bool read_if(std::string_view kind, const Json& json, std::optional<RunRecord>& record) {
  if (kind == Declared<Kind>::kName) record = FieldType<Kind>::read(json);
  return record.has_value();
}

template <class... Kinds>
std::optional<RunRecord> read_any(std::string_view kind, const Json& json,
                                  const std::variant<Kinds...>*) {
  std::optional<RunRecord> record;
  (read_if<Kinds>(kind, json, record) || ...);
  return record;
}

}  // namespace

Json to_json(const RunEntry& entry) {
  return std::visit(
      [&]<class Kind>(const Kind& record) {
        Json json = FieldType<Kind>::write(record);
        FieldType<RecordHead>::write_fields(entry.head, json);
        json[kKindKey] = Declared<Kind>::kName;
        return json;
      },
      entry.record);
}

std::optional<RunEntry> parse_run_entry(const Json& json) {
  const auto kind = json.find(kKindKey);
  check(kind != json.end() && kind->is_string(), ErrorCode::Data, "expected a kind of record");
  const auto name = kind->get<std::string>();
  try {
    auto record = read_any(name, with_new_keys(name, json), static_cast<const RunRecord*>(nullptr));
    if (!record) return std::nullopt;
    return RunEntry{FieldType<RecordHead>::read(json), *std::move(record)};
  } catch (const Error& error) {
    throw Error(
        ErrorCode::Data,
        fmt::format("the record is no \"{}\" as this program knows them: {}", name, error.what()));
  }
}

}  // namespace ingot
