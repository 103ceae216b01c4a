#include "ledger/records/records_page.h"

#include <fmt/format.h>

#include <vector>

#include "ledger/records/run_field_types.h"
#include "ledger/records/task_records.h"

namespace ingot {
namespace {

constexpr std::string_view kRunHead =
    R"(# Records of a run

Generated from `src/ledger/records/run_records.def`; a test keeps this page equal to it. [ledger.md](ledger.md) says how
a ledger keeps them and what a reader may rely on. Each record is one JSON object: its `kind`, the fields of
`RecordHead`, and those of its kind. An optional field is left out if it has nothing to say. A **metric** is a number
that can be plotted over the steps; it is null if it is unknown. Any number that is not finite is null too. «Since» is
the version of the ledger that introduced the field.
)";

constexpr std::string_view kTaskHead =
    R"(# Records of data jobs' tasks

Generated from `src/ledger/records/task_records.def`; a test keeps this page equal to it. A data job
([ingest.md](ingest.md), [shards.md](shards.md)) keeps the record of each finished task in `FOLDER/tasks/00012.json`:
one JSON object with the number of the task (`task`) and the fields of its kind. An optional field is left out if it has
nothing to say, and older programs do not write it.
)";

struct Field {
  FieldInfo info;
  std::string type;
  bool may_be_absent = false;
};

struct Type {
  std::string_view name, doc;
  int since = 0;
  bool is_kind = false;
  std::vector<Field> fields;
};

template <class T>
Type described() {
  using Of = Declared<T>;
  Type type{Of::kName, Of::kDoc, Of::kSince, Of::kIsKind, {}};
  T object;
  Of::visit(object, [&]<class V>(const FieldInfo& info, const V&) {
    const bool may_be_absent = (kIsOptional<V> && !info.is_metric()) || kIsList<V>;
    type.fields.push_back({info, FieldType<V>::name(), may_be_absent});
  });
  return type;
}

std::vector<Type> run_types() {
  return {
#define PART(Type, since, doc) described<Type>(),
#define KIND(Type, kind, since, doc) described<Type>(),
#include "ledger/records/run_records.def"
  };
}

std::vector<Type> task_types() {
  return {
#define PART(Type, since, doc) described<Type>(),
#define KIND(Type, kind, since, doc) described<Type>(),
#include "ledger/records/task_records.def"
  };
}

std::string rows_of(const Type& type) {
  std::string rows = fmt::format(
      "\n{}\n\n| field | type | unit | since | meaning |\n|---|---|---|---|---|\n", type.doc);
  for (const auto& [info, name, may_be_absent] : type.fields)
    rows +=
        fmt::format("| `{}` | {}{} | {} | {} | {}{} |\n", info.name, name,
                    may_be_absent ? ", optional" : "", info.unit, info.since,
                    info.is_metric() ? fmt::format("**metric: {}.** ", info.title) : "", info.doc);
  return rows;
}

// What is new in a version: whole types, and fields of older ones.
std::string brought_by(int version, const std::vector<Type>& types) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const Type& type : types) {
    if (type.since == version && type.is_kind) add(fmt::format("`{}`", type.name));
    for (const Field& field : type.fields)
      if (field.info.since == version && type.since < version)
        add(fmt::format("`{}.{}`", type.name, field.info.name));
  }
  for (const OldKey& row : kOldKeys)
    if (row.since == version)
      add(fmt::format("`{}` of `{}`, now `{}`", row.old_key, row.kind, row.key));
  return text;
}

std::string page_of(std::string_view head, const std::vector<Type>& types) {
  std::string page(head);
  page += "\n## Kinds\n";
  for (const Type& type : types)
    if (type.is_kind) page += fmt::format("\n### {}\n{}", type.name, rows_of(type));
  page += "\n## Objects in them\n";
  for (const Type& type : types)
    if (!type.is_kind) page += fmt::format("\n### {}\n{}", type.name, rows_of(type));
  return page;
}

}  // namespace

std::string run_records_page() {
  const std::vector<Type> types = run_types();
  std::string page = page_of(kRunHead, types);
  page += "\n## Versions\n\n| version | brought |\n|---|---|\n";
  for (int version = 1; version <= kLedgerVersion; ++version)
    page += fmt::format("| {} | {} |\n", version, brought_by(version, types));
  return page;
}

std::string task_records_page() {
  return page_of(kTaskHead, task_types());
}

}  // namespace ingot
