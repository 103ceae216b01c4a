// ingot probe and ingot smoke as a user runs them, on ranks that are threads and processes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_fixture.h"
#include "support/free_port.h"

namespace ingot::test {
namespace {

class Probe : public RunFixture {
 protected:
  static nlohmann::json last_line(const Outcome& outcome) {
    const size_t end = outcome.out.find_last_not_of('\n');
    return nlohmann::json::parse(outcome.out.substr(outcome.out.rfind('\n', end) + 1), nullptr,
                                 false);
  }
  // Whatever is left in a folder that a command had to itself.
  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
    return names;
  }
};

const Args kQuick = {"--device", "cpu", "--seconds", "0.3", "--max-bytes", "65536", "--json"};

TEST_F(Probe, MeasuresRanksAndKeepsAProfileThatPlansRead) {
  const Outcome outcome =
      ingot(with({"probe", "-n", "3", "--dir", path("."), "--save", path("here.toml")}, kQuick));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = last_line(outcome);
  EXPECT_EQ(line.at("transport"), "threads");
  EXPECT_EQ(line.at("ranks"), 3);
  EXPECT_EQ(line.at("nodes").size(), 1u);
  EXPECT_EQ(line.at("links").size(), 6u);
  std::set<std::string> kinds;  // how many sizes of each depends on the time they take
  for (const auto& row : line.at("collectives")) kinds.insert(row.at("kind"));
  EXPECT_EQ(kinds,
            (std::set<std::string>{"all_gather", "all_reduce", "all_to_all", "reduce_scatter"}));
  for (const auto& row : line.at("collectives"))
    for (const char* rate : {"seconds", "algorithm_bytes_s", "bus_bytes_s"})
      EXPECT_GT(row.at(rate).get<double>(), 0.0) << row;
  const auto& device = line.at("devices")[0];
  for (const char* rate : {"gemm_f32", "gemm_bf16", "memory_copy"})
    EXPECT_GT(device.at("rates").at(rate).get<double>(), 0.0) << rate;
  EXPECT_GT(device.at("disk_write").get<double>(), 0.0);
  for (const char* words : {"all_reduce", "from\\to 0 1 2", "slowest  ", "cores"})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words;

  const Args plan = {"plan",  "memory",       "--set", "preset=llama_tiny",
                     "--set", "batch.seq=64", "--json"};
  const Outcome planned = ingot(with(plan, {"--profile", path("here.toml")}));
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_EQ(last_line(planned).at("device"), "cpu");
  EXPECT_EQ(ingot(with(plan, {"--profile", path("recipe.toml")})).code, 2);
  EXPECT_EQ(ingot(with(plan, {"--profile", path("here.toml"), "--gpu", "h200"})).code, 2);
}

TEST_F(Probe, OfOneRankHasNoLinks) {
  const Outcome outcome = ingot(with({"probe"}, kQuick));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(last_line(outcome).at("links").empty());
  EXPECT_TRUE(last_line(outcome).at("collectives").empty());
}

TEST_F(Probe, RunsOnTheProcessesOfALauncher) {
  const Outcome outcome = ingot(with({"launch", "-n", "2", "--", "probe"}, kQuick));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = last_line(outcome);
  EXPECT_EQ(line.at("transport"), "tcp");
  EXPECT_EQ(line.at("links").size(), 2u);
  EXPECT_EQ(line.at("nodes")[0].at("rendezvous_address"), "127.0.0.1");
  EXPECT_EQ(line.at("nodes")[0].at("interface"), "lo");
  EXPECT_TRUE(line.at("advice").empty());  // one machine may talk to itself
}

class Smoke : public Probe {
 protected:
  void SetUp() override {
    Probe::SetUp();
    fs::create_directories(path("work"));
  }
  Args here(const Args& args) const { return with(args, {"--dir", path("work"), "--json"}); }
};

TEST_F(Smoke, SaysInALineThatItWorksAndLeavesNothing) {
  for (const Args& start : {Args{"smoke", "-n", "3"}, Args{"launch", "-n", "2", "--", "smoke"}}) {
    const Outcome outcome = ingot(here(with(start, {"--device", "cpu"})));
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with(
        "smoke: ok: " + std::string(start[0] == "smoke" ? "3" : "2") + " ranks, 12 steps, loss 5."))
        << outcome.out;
    EXPECT_NE(outcome.out.find("saved, loaded on one rank, generated; "), std::string::npos);
    const nlohmann::json line = last_line(outcome);
    EXPECT_TRUE(line.at("ok"));
    EXPECT_LT(line.at("last_loss").get<double>(), line.at("first_loss").get<double>());
    EXPECT_EQ(names_in(path("work")), std::vector<std::string>{});
  }
}

TEST_F(Smoke, SaysWhatFailedAndWhatToTry) {
  // A rate at which nothing is learnt.
  const Outcome outcome =
      ingot(here({"smoke", "-n", "2", "--device", "cpu", "--set", "optim.lr=1e-30"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.out.starts_with("smoke: failed after ")) << outcome.out;
  EXPECT_NE(outcome.out.find("expected it to fall; try: "), std::string::npos) << outcome.out;
  EXPECT_FALSE(last_line(outcome).at("ok"));
  EXPECT_EQ(names_in(path("work")), std::vector<std::string>{});

  write("file", "");
  const Outcome refused = ingot({"smoke", "--dir", path("file"), "--device", "cpu"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.out.find("try: --dir FOLDER on a file system that every host sees"),
            std::string::npos)
      << refused.out;
}

TEST_F(Smoke, ARankThatDoesNotComeIsNamed) {
  Process process(
      here({"smoke", "--device", "cpu", "--set", "system.timeout_start=1"}), root_,
      {"env", "RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=2",
       "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + std::to_string(testing_support::free_port())});
  EXPECT_EQ(process.wait(), 4);
  EXPECT_NE(process.out().find("smoke: failed after "), std::string::npos) << process.out();
  EXPECT_NE(process.out().find("rank 1"), std::string::npos) << process.out();
  EXPECT_NE(process.out().find("try: `ingot probe`"), std::string::npos) << process.out();
  EXPECT_EQ(names_in(path("work")), std::vector<std::string>{});
}

TEST_F(Smoke, OfMoreRanksThanTheLauncherStartedIsWrongUsage) {
  const Outcome outcome = ingot(here({"launch", "-n", "2", "--", "smoke", "-n", "3"}));
  EXPECT_EQ(outcome.code, 2) << outcome.out;
}

}  // namespace
}  // namespace ingot::test
