// Ledgers of earlier programs, as tests/golden/ledger/README.md says.
#include <gtest/gtest.h>

#include "core/storage/storage.h"
#include "ledger/records/run_ledger.h"
#include "support/source_path.h"

namespace ingot {
namespace {

std::string golden(const std::string& name) {
  return testing_support::source_path("tests/golden/ledger/") + name + ".jsonl";
}

template <class Report>
std::vector<Report> reports_in(const std::string& name) {
  std::vector<Report> found;
  for_each_run_record(*posix_storage(), golden(name), [&](const RunEntry& entry) {
    EXPECT_FALSE(entry.head.time || entry.head.start);
    if (const auto* report = std::get_if<Report>(&entry.record)) found.push_back(*report);
  });
  return found;
}

TEST(OldLedgers, OfEveryVersionAreRead) {
  for (int version = 1; version < 9; ++version) {
    const std::string name = fmt::format("version_{}", version);
    const auto starts = reports_in<StartReport>(name);
    ASSERT_EQ(starts.size(), 2u) << name;
    EXPECT_EQ(starts[1].step, 3);
    EXPECT_EQ(starts[1].samples, 6);
    EXPECT_EQ(starts[0].config_hash, "bb54fbc18907bc81");
    EXPECT_FALSE(starts[0].version || starts[0].run);
    EXPECT_EQ(starts[0].data.has_value(), version >= 3);
    EXPECT_EQ(starts[0].config.has_value(), version >= 3);
    EXPECT_EQ(starts[0].device.has_value(), version >= 4);
    EXPECT_EQ(starts[0].trained_tokens.has_value(), version >= 5);

    const auto steps = reports_in<StepReport>(name);
    ASSERT_EQ(steps.size(), 4u) << name;
    for (size_t i = 0; i < 4; ++i) {
      const auto first = static_cast<int64_t>(2 * i);
      EXPECT_EQ(steps[i].step, static_cast<int64_t>(i) + 1);
      EXPECT_EQ(steps[i].samples, (SampleRange{first, first + 2}));
    }
    EXPECT_EQ(steps[0].loss, 5.550260603427887);
    EXPECT_EQ(steps[1].loss_scale.has_value(), version >= 2 && version < 8);
    EXPECT_EQ(steps[2].verdict.value_or(""), version >= 6 && version < 8 ? "lower_rate" : "");
    EXPECT_EQ(steps[3].padded_tokens.has_value(), version >= 5);
    EXPECT_FALSE(steps[3].flops || steps[3].mfu || steps[3].data_wait);

    EXPECT_EQ(reports_in<EvalReport>(name).back().bits_per_byte, 7.21747590786485);
    EXPECT_EQ(reports_in<SavedReport>(name).back().dir, "run/step_00000004");
    EXPECT_EQ(reports_in<EndReport>(name).back().step, 4);
  }
}

TEST(OldLedgers, OfSeveralRanksAreRead) {
  for (const int version : {7, 8}) {
    const std::string name = fmt::format("version_{}_ranks", version);
    const StartReport start = reports_in<StartReport>(name).at(0);
    ASSERT_EQ(start.places.size(), 2u);
    EXPECT_EQ(start.places[1].cores, "1");
    EXPECT_EQ(start.transport.value_or(""), version == 8 ? "tcp" : "");
    const StepReport step = reports_in<StepReport>(name).at(0);
    ASSERT_TRUE(step.ranks);
    EXPECT_EQ(std::get<std::vector<double>>(step.ranks->seconds).size(), 2u);
    EXPECT_FALSE(step.slow_rank);
    const LostReport lost = reports_in<LostReport>(name).at(0);
    EXPECT_EQ(lost.rank, 1);
    EXPECT_EQ(lost.step, 36123);
    EXPECT_NE(lost.why.find("rank 1 is lost"), std::string::npos);
  }
}

// No ledger: its lines had no kind.
TEST(OldLedgers, AFaultIsReadOnceItHasAKind) {
  auto json = nlohmann::json::parse(read_text(*posix_storage(), golden("version_8_faults")));
  json["kind"] = Declared<FaultReport>::kName;
  const RunEntry entry = *parse_run_entry(json);
  EXPECT_EQ(entry.head.time, "2026-11-19T03:52:18Z");
  const auto fault = std::get<FaultReport>(entry.record);
  EXPECT_EQ(fault.rank, 0);
  EXPECT_EQ(fault.lost, 1);
  EXPECT_EQ(fault.host, "vm");
  EXPECT_GT(fault.last.size(), 2u);
}

}  // namespace
}  // namespace ingot
