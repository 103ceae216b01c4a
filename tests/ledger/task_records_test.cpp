#include "ledger/records/task_records.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/error/error.h"
#include "ledger/records/records_page.h"
#include "support/build_folder.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using nlohmann::json;

// A value that is not the one of an empty record.
void fill(int64_t& value) {
  value = 3;
}
void fill(uint64_t& value) {
  value = UINT64_MAX;
}
void fill(double& value) {
  value = 0.1;
}
void fill(std::string& value) {
  value = "x";
}
template <class T>
void fill(T& part);
template <class T>
void fill(std::optional<T>& value) {
  fill(value.emplace());
}
template <class T>
void fill(std::vector<T>& values) {
  fill(values.emplace_back());
}
template <class T>
void fill(std::map<std::string, T>& values) {
  fill(values["a"]);
}
template <class T>
void fill(T& part) {
  Declared<T>::visit(part, [](const FieldInfo&, auto& field) { fill(field); });
}

template <class T>
void expect_itself(const T& record) {
  const json written = json::parse(task_record(record).dump());
  EXPECT_EQ(read_task_record<T>(written), record) << Declared<T>::kName << written;
}

// Without each field in turn: an error that names it, unless it may be missing.
template <class T>
void expect_fields_named(const T& full) {
  Declared<T>::visit(full, [&]<class V>(const FieldInfo& field, const V&) {
    json less = task_record(full);
    ASSERT_EQ(less.erase(std::string(field.name)), 1u) << field.name;
    try {
      read_task_record<T>(less);
      EXPECT_TRUE(kIsOptional<V> || kIsList<V>) << Declared<T>::kName << " " << field.name;
    } catch (const Error& error) {
      EXPECT_FALSE(kIsOptional<V> || kIsList<V>) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::Data);
      EXPECT_NE(std::string(error.what()).find(field.name), std::string::npos) << error.what();
    }
  });
}

template <class T>
void check_kind() {
  expect_itself(T());
  T full;
  fill(full);
  expect_itself(full);
  expect_fields_named(full);
}

TEST(TaskRecords, OfEveryKindAreReadAsTheyWereWrittenAndFieldsThatAreMissingNamed) {
#define PART(Type, since, doc) check_kind<Type>();
#define KIND(Type, name, since, doc) check_kind<Type>();
#include "ledger/records/task_records.def"
}

TEST(TaskRecords, AFieldOfAnotherTypeIsNamedWithTheFileItIsIn) {
  const auto storage = memory_storage();
  TaskFolder tasks(storage, "job", {{"stage", "test"}}, 1);
  tasks.run({}, 1, [](int64_t) { return json{{"pairs", "many"}}; }, {});
  try {
    task_record_of<DedupPairsRecord>(tasks, 0);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    const std::string said = error.what();
    for (const char* part : {"job/tasks/00000.json", "pairs", "integer", "remove it"})
      EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

TEST(TaskRecords, WhatIsNotKnownIsPassedOver) {
  EXPECT_EQ(read_task_record<DedupPairsRecord>({{"pairs", 7}, {"task", 0}, {"new", "x"}}).pairs, 7);
  // Programs before it said nothing of inputs.
  EXPECT_TRUE(read_task_record<TaskInputs>({{"documents", 1}}).inputs.empty());
}

TEST(TaskRecords, PageIsCurrent) {
  std::ifstream file(testing_support::source_path("docs/task-records.md"));
  std::stringstream committed;
  committed << file.rdbuf();
  const std::string generated = testing_support::build_folder() / "task-records.md";
  std::ofstream(generated) << task_records_page();
  EXPECT_EQ(committed.str(), task_records_page())
      << "refresh it: cp " << generated << " docs/task-records.md";
}

}  // namespace
}  // namespace ingot
