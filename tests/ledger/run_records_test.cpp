#include "ledger/records/run_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "core/error/error.h"
#include "core/text/utc.h"
#include "ledger/records/records_page.h"
#include "ledger/records/run_ledger.h"
#include "support/build_folder.h"
#include "support/files.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using Json = nlohmann::json;
using testing_support::error_of;

const std::string kPath = "ledger.jsonl";

// Gives every field a value of its own.
class Filler {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (kIsOptional<T>) {
      fill(value.emplace());
    } else if constexpr (kIsList<T>) {
      value.resize(2);
      for (auto& one : value) fill(one);
    } else {
      Declared<T>::visit(value, [this](const FieldInfo&, auto& field) { fill(field); });
    }
  }
  void fill(int64_t& value) { value = ++last_; }
  void fill(double& value) { value = static_cast<double>(++last_) + 0.125; }
  void fill(bool& value) { value = true; }
  void fill(std::string& value) { value = fmt::format("text {}", ++last_); }
  void fill(Json& value) { value = {{"number", ++last_}}; }
  void fill(SampleRange& value) { value = {++last_, ++last_}; }
  void fill(Spread& value) {
    if (++last_ % 2 == 0)
      fill(value.emplace<std::vector<double>>());
    else
      fill(value.emplace<Extremes>());
  }

 private:
  int64_t last_ = 0;
};

template <size_t... I>
std::vector<RunEntry> entries_of_all_kinds(bool filled, std::index_sequence<I...>) {
  Filler filler;
  std::vector<RunEntry> entries(sizeof...(I));
  (entries[I].record.emplace<I>(), ...);
  for (RunEntry& entry : entries) {
    if (!filled) continue;
    filler.fill(entry.head);
    std::visit([&](auto& record) { filler.fill(record); }, entry.record);
  }
  return entries;
}

std::vector<RunEntry> entries_of_all_kinds(bool filled) {
  return entries_of_all_kinds(filled, std::make_index_sequence<std::variant_size_v<RunRecord>>());
}

TEST(RunRecords, OfEveryKindComeBackAsTheyWereWritten) {
  for (const bool filled : {true, false})
    for (const RunEntry& entry : entries_of_all_kinds(filled)) {
      const Json json = to_json(entry);
      const auto read = parse_run_entry(Json::parse(json.dump()));
      ASSERT_TRUE(read) << json;
      EXPECT_EQ(read->head, entry.head) << json;
      EXPECT_EQ(read->record, entry.record) << json;
      EXPECT_EQ(to_json(*read), json);
    }
}

TEST(RunRecords, HoldTheirDeclaredFieldsAndNoOthers) {
  for (const RunEntry& entry : entries_of_all_kinds(true)) {
    std::set<std::string> declared = {"kind"}, written;
    const auto add = [&](const FieldInfo& field, const auto&) {
      EXPECT_TRUE(declared.emplace(field.name).second) << field.name;
    };
    Declared<RecordHead>::visit(entry.head, add);
    std::visit([&]<class T>(const T& record) { Declared<T>::visit(record, add); }, entry.record);
    const Json json = to_json(entry);
    for (const auto& [key, value] : json.items()) written.insert(key);
    EXPECT_EQ(written, declared);
  }
}

TEST(RunRecords, AMetricThatIsNotKnownIsNullAndOtherFieldsAreLeftOut) {
  const Json json = to_json({{}, StepReport{.loss = std::nan("")}});
  for (const char* unknown : {"loss", "mfu", "mfu_measured", "comm_wait"})
    EXPECT_TRUE(json.at(unknown).is_null()) << json;
  for (const char* absent : {"time", "start", "loss_scale", "verdict", "ranks"})
    EXPECT_FALSE(json.contains(absent)) << json;
  const auto read = std::get<StepReport>(parse_run_entry(json)->record);
  EXPECT_TRUE(std::isnan(read.loss));
  EXPECT_FALSE(read.mfu);
}

// A later program's.
TEST(RunRecords, OfUnknownKindsAndUnknownFieldsArePassedOver) {
  EXPECT_FALSE(parse_run_entry({{"kind", "weather"}, {"step", "sunny"}}));
  Json json = to_json({{}, EndReport{.step = 7}});
  json["mood"] = "good";
  EXPECT_EQ(std::get<EndReport>(parse_run_entry(json)->record).step, 7);

  const auto storage = memory_storage();
  {
    LedgerWriter writer(storage, kPath);
    writer.append({{"kind", "weather"}});
    writer.append(json);
  }
  std::vector<RunRecord> seen;
  for_each_run_record(*storage, kPath, [&](const RunEntry& e) { seen.push_back(e.record); });
  EXPECT_EQ(seen, std::vector<RunRecord>{EndReport{.step = 7}});
}

TEST(RunRecords, ThatAreNotAsDeclaredAreErrorsThatNameLineAndField) {
  Json step = to_json({{}, StepReport{.ranks = StepRanks{.seconds = {}, .waits = {}}}});
  const std::vector<std::tuple<std::string, Json, std::string>> damages = {
      {"/samples/1", "b", R"(samples: expected an integer of 64 bits, got "b")"},
      {"/samples", 3, "samples: expected a list of two integers, got 3"},
      {"/step", 1.5, "step: expected an integer of 64 bits, got 1.5"},
      {"/step", uint64_t{1} << 63, "step: expected an integer of 64 bits, got 9223372036854775808"},
      {"/loss", "low", R"(loss: expected a number, got "low")"},
      {"/ranks/waits", true, "ranks: waits: expected an object, got true"},
      {"/verdict", 1, "verdict: expected a text, got 1"},
      {"/time", 1, "time: expected a text, got 1"}};
  for (const auto& [place, value, what] : damages) {
    Json damaged = step;
    damaged[Json::json_pointer(place)] = value;
    const auto storage = memory_storage();
    LedgerWriter writer(storage, kPath);
    writer.append(step);
    writer.append({{"kind", "weather"}});
    writer.append(damaged);
    int64_t seen = 0;
    const auto message = error_of(ErrorCode::Data, [&] {
      for_each_run_record(*storage, kPath, [&](const RunEntry&) { ++seen; });
    });
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(message.find("ledger.jsonl, line 3: the record is no \"step\""), 0u) << message;
    EXPECT_NE(message.find(what), std::string::npos) << message;
  }
  step.erase("tokens");
  EXPECT_NE(error_of(ErrorCode::Data, [&] { parse_run_entry(step); }).find("\"tokens\" is missing"),
            std::string::npos);
  error_of(ErrorCode::Data, [] { parse_run_entry({{"step", 1}}); });
  error_of(ErrorCode::Data, [] { parse_run_entry({{"kind", 1}}); });
}

TEST(RunRecords, MetricsHaveATitleAndADefinition) {
  std::set<std::string> metrics;
  for (const RunEntry& entry : entries_of_all_kinds(false))
    std::visit(
        [&]<class T>(const T& record) {
          Declared<T>::visit(record, [&](const FieldInfo& field, const auto&) {
            if (!field.is_metric()) return;
            EXPECT_FALSE(field.doc.empty()) << field.name;
            EXPECT_TRUE(metrics.emplace(field.title).second) << field.title;
          });
        },
        entry.record);
  EXPECT_TRUE(metrics.contains("training loss"));
  EXPECT_TRUE(metrics.contains("MFU by data sheet"));
}

TEST(RunRecords, PageIsCurrent) {
  std::ifstream file(testing_support::source_path("docs/ledger-records.md"));
  std::stringstream committed;
  committed << file.rdbuf();
  const std::string generated = testing_support::build_folder() / "ledger-records.md";
  std::ofstream(generated) << run_records_page();
  EXPECT_EQ(committed.str(), run_records_page())
      << "refresh it: cp " << generated << " docs/ledger-records.md";
}

std::vector<RunEntry> entries(Storage& storage) {
  std::vector<RunEntry> all;
  for_each_run_record(storage, kPath, [&](const RunEntry& entry) { all.push_back(entry); });
  return all;
}

TEST(RunLedger, GivesEveryRecordItsTimeAndTheStartThatItBelongsTo) {
  const auto storage = memory_storage();
  const std::string before = format_utc(std::chrono::system_clock::now());
  for (int start = 0; start < 3; ++start) {
    RunLedger ledger(storage, kPath, "a");
    ledger.append(StartReport{.run = "a"});
    ledger.append(StartReport{.run = "a", .step = 1});  // rolled back: the same process
    ledger.append(EndReport{});
  }
  const std::string after = format_utc(std::chrono::system_clock::now());
  std::vector<int64_t> starts;
  std::string last = before;
  for (const RunEntry& entry : entries(*storage)) {
    starts.push_back(entry.head.start.value_or(0));
    EXPECT_LE(last, entry.head.time);
    last = entry.head.time.value_or("");
  }
  EXPECT_LE(last, after);
  EXPECT_EQ(starts, (std::vector<int64_t>{1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST(RunLedger, CountsTheStartsOfOlderProgramsAndOfThisRunAlone) {
  const auto storage = memory_storage();
  {
    LedgerWriter old(storage, kPath);
    for (int start = 0; start < 2; ++start) old.append(to_json({{}, StartReport{}}));
  }
  for (const char* run : {"a", "a", "b"})
    RunLedger(storage, kPath, run).append(StartReport{.run = run});
  std::vector<int64_t> starts;
  for (const RunEntry& entry : entries(*storage)) starts.push_back(entry.head.start.value_or(0));
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 0, 3, 4, 1}));
}

TEST(RunLedger, ADamagedRecordIsRefusedBeforeAnythingIsWritten) {
  const auto storage = memory_storage();
  LedgerWriter(storage, kPath).append({{"kind", "end"}, {"step", "last"}});
  const std::string before = read_text(*storage, kPath);
  const auto message = error_of(ErrorCode::Data, [&] { RunLedger(storage, kPath, "a"); });
  EXPECT_NE(message.find("line 1"), std::string::npos) << message;
  EXPECT_EQ(read_text(*storage, kPath), before);
}

}  // namespace
}  // namespace ingot
