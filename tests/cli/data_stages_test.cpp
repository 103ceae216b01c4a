// ingot data clean, dedup and decontaminate as a user runs them.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/stage_fixture.h"

namespace ingot::test {
namespace {

class DataStages : public StageFixture {
 protected:
  // `command` gets --out and what decides who does the work; all must leave the same.
  void expect_same_bytes_however_it_is_run(const Args& command) const {
    ASSERT_EQ(ingot(with(command, {"--out", path("one"), "--threads", "1"})).code, 0);
    const auto expected = tree("one");
    ASSERT_EQ(expected.count("report.html"), 1u);
    for (const char* threads : {"2", "8"}) {
      ASSERT_EQ(ingot(with(command, {"--out", path("threads"), "--threads", threads})).code, 0);
      EXPECT_TRUE(tree("threads") == expected) << threads << " threads";
      fs::remove_all(root_ / "threads");
    }
    for (const int count : {2, 3}) {
      std::vector<std::unique_ptr<Process>> processes;
      for (int i = 0; i < count; ++i) {
        const fs::path folder = root_ / ("process" + std::to_string(i));
        fs::create_directories(folder);
        const std::string share = std::to_string(i) + "/" + std::to_string(count);
        processes.push_back(std::make_unique<Process>(
            with(command, {"--out", path("processes"), "--process", share}), folder));
      }
      for (auto& process : processes) EXPECT_EQ(process->wait(), 0) << process->err();
      EXPECT_TRUE(tree("processes") == expected) << count << " processes";
      fs::remove_all(root_ / "processes");
    }
    expect_same_bytes_after_kills(command, expected);
  }

  // Each run is killed as soon as it has made so many changes, more from run to run.
  void expect_same_bytes_after_kills(const Args& command,
                                     const std::map<std::string, std::string>& expected) const {
    const Args args = with(command, {"--out", path("killed"), "--threads", "2"});
    int kills = 0;
    for (int64_t more = 1;; more += 2) {
      const int64_t limit = num_files("killed") + more;
      Process process(args, root_);
      while (num_files("killed") < limit && !fs::exists(root_ / "killed/report.json")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      process.signal(SIGKILL);
      const int code = process.wait();
      if (code == 0 || fs::exists(root_ / "killed/report.json")) break;
      ASSERT_EQ(code, -SIGKILL) << process.err();
      ++kills;
    }
    EXPECT_GE(kills, 3);
    ASSERT_EQ(ingot(args).code, 0);
    EXPECT_TRUE(tree("killed") == expected) << "after " << kills << " kills";
  }
};

TEST_F(DataStages, CleanGivesTheSameBytesForAnyThreadsProcessesAndKills) {
  write_corpus();
  expect_same_bytes_however_it_is_run({"data", "clean", path("in"), "--keep-removed"});
}

TEST_F(DataStages, DedupGivesTheSameBytesForAnyThreadsProcessesAndKills) {
  write_corpus();
  expect_same_bytes_however_it_is_run({"data", "dedup", path("in"), "--keep-removed"});
}

TEST_F(DataStages, DecontaminateGivesTheSameBytesForAnyThreadsProcessesAndKills) {
  write_corpus();
  write_task();
  expect_same_bytes_however_it_is_run(
      {"data", "decontaminate", path("in"), "--against", path("task.jsonl"), "--keep-removed"});
}

TEST_F(DataStages, FromRawFilesToFilesThatMayBeTrainedOn) {
  write_corpus();
  const Outcome cleaned =
      ingot({"data", "clean", path("in"), "--out", path("cleaned"), "--keep-removed", "--json"});
  ASSERT_EQ(cleaned.code, 0) << cleaned.err;
  const json report = json::parse(slurp(root_ / "cleaned/report.json"));
  EXPECT_EQ(report["documents"], 540);
  EXPECT_EQ(report["kept"], documents("cleaned/documents").size());
  EXPECT_EQ(documents("cleaned/documents").size() + documents("cleaned/removed").size(), 540u);
  std::map<std::string, int64_t> removed;
  for (const json& rule : report["removed"]) removed[rule["reason"]] = rule["documents"];
  EXPECT_GE(removed.at("lorem_ipsum"), 54);  // and copies of such texts

  const std::string page = slurp(root_ / "cleaned/report.html");
  EXPECT_NE(page.find("too short &lt;b&gt;&amp;amp;&lt;/b&gt;"), std::string::npos);
  EXPECT_EQ(page.find("too short <b>"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);  // nothing is loaded

  const Outcome unique = ingot(
      {"data", "dedup", path("cleaned/documents"), "--out", path("unique"), "--method", "minhash"});
  ASSERT_EQ(unique.code, 0) << unique.err;
  const auto left = documents("unique/documents");
  EXPECT_LT(left.size(), documents("cleaned/documents").size() - 60);
  EXPECT_FALSE(fs::exists(root_ / "unique/work"));

  // A question whose answer stands in one of the documents, and one that is too short.
  const std::string& victim = left.begin()->second;
  const std::string line = victim.substr(0, victim.find('.'));
  write_lines("task.jsonl", {{{"query", "What was said?"}, {"choices", {"no", line}}, {"gold", 1}},
                             {{"query", "Yes"}, {"choices", {"no", "yes"}}, {"gold", 0}}});
  const Outcome clean = ingot({"data", "decontaminate", path("unique/documents"), "--against",
                               path("task.jsonl"), "--out", path("final"), "--keep-removed"});
  ASSERT_EQ(clean.code, 0) << clean.err;
  const json tasks = json::parse(slurp(root_ / "final/report.json"))["tasks"];
  EXPECT_EQ(tasks[0]["items"], 2);
  EXPECT_EQ(tasks[0]["unprotected_items"], 1);
  EXPECT_EQ(documents("final/documents").count(left.begin()->first), 0u);
  EXPECT_EQ(documents("final/removed").count(left.begin()->first), 1u);
  EXPECT_EQ(documents("final/documents").size() + documents("final/removed").size(), left.size());
}

TEST_F(DataStages, OtherSettingsDoNotContinueAFolder) {
  write_lines("in/a.jsonl", {{{"text", "short"}}});
  const Args command = {"data", "clean", path("in"), "--out", path("out")};
  ASSERT_EQ(ingot(command).code, 0);
  const Outcome other = ingot(with(command, {"--set", "gopher_quality.min_words=10"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("gopher_quality.min_words: 50, now it is 10"), std::string::npos)
      << other.err;
}

TEST_F(DataStages, ConfigFilesOverridesAndPresetsDecideWhatIsDone) {
  write_lines("in/a.jsonl",
              {{{"text", "It is short. But it may stay, as nothing is asked of it."}}});
  std::ofstream(root_ / "none.toml") << "[gopher_repetition]\nenabled = false\n[gopher_quality]\n"
                                        "enabled = false\n[c4]\nenabled = false\n[fineweb]\n"
                                        "enabled = false\n";
  const Args command = {"data", "clean", path("in"), "--config", path("none.toml")};
  ASSERT_EQ(ingot(with(command, {"--out", path("all")})).code, 0);
  EXPECT_EQ(documents("all/documents").size(), 1u);
  const Args strict = {"--out", path("some"),           "--set", "length.enabled=true",
                       "--set", "length.min_chars=1000"};
  ASSERT_EQ(ingot(with(command, strict)).code, 0);
  EXPECT_EQ(documents("some/documents").size(), 0u);

  const Outcome printed = ingot({"data", "clean", "--print-config", "--preset", "fineweb-v1"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_NE(printed.out.find("splitter = \"nltk-en\""), std::string::npos);
  std::ofstream(root_ / "printed.toml") << printed.out;
  const Outcome again =
      ingot({"data", "clean", "--print-config", "--config", path("printed.toml")});
  EXPECT_EQ(again.out, printed.out);

  const Outcome wrong = ingot(
      {"data", "clean", path("in"), "--out", path("x"), "--set", "gopher_quality.min_wrds=1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean \"gopher_quality.min_words\"?"), std::string::npos);
  const Outcome without_punkt =
      ingot({"data", "clean", path("in"), "--out", path("y"), "--preset", "fineweb-v1"});
  EXPECT_EQ(without_punkt.code, 2) << without_punkt.err;
}

TEST_F(DataStages, BadInputIsAnErrorThatNamesThePlaceOrACountedSkip) {
  std::ofstream(root_ / "in/a.jsonl") << "{\"text\":\"fine\"}\nno json\n{\"text\":3}\n{\"a\":1}\n";
  const Outcome skipped =
      ingot({"data", "dedup", path("in"), "--out", path("out"), "--method", "exact", "--json"});
  ASSERT_EQ(skipped.code, 0) << skipped.err;
  const json report = json::parse(slurp(root_ / "out/report.json"));
  EXPECT_EQ(report["documents"], 1);
  int64_t total = 0;
  for (const auto& [reason, count] : report["skipped"].items()) total += count.get<int64_t>();
  EXPECT_EQ(total, 3);

  std::ofstream(root_ / "in/b.jsonl.gz") << "this is no gzip file";
  const Outcome damaged = ingot({"data", "clean", path("in"), "--out", path("damaged")});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_NE(damaged.err.find("b.jsonl.gz"), std::string::npos) << damaged.err;

  EXPECT_NE(ingot({"data", "clean", path("nowhere"), "--out", path("x")}).code, 0);
  write_lines("task.jsonl", {{{"question", "?"}}});
  const Outcome task = ingot({"data", "decontaminate", path("in/a.jsonl"), "--against",
                              path("task.jsonl"), "--out", path("x")});
  EXPECT_EQ(task.code, 1);
  EXPECT_NE(task.err.find("task.jsonl, line 1"), std::string::npos) << task.err;
  for (const char* share : {"2/2", "x", "1", "-1/2", "0/0"}) {
    const Outcome wrong = ingot({"data", "clean", path("in/a.jsonl"), "--out", path("x"),
                                 std::string("--process=") + share});
    EXPECT_EQ(wrong.code, 2) << share << wrong.err;
  }
}

TEST_F(DataStages, ALauncherTellsWhichProcessItIs) {
  write_corpus();
  const std::pair<const char*, const char*> launchers[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank, size] : launchers) {
    setenv(rank, "1", 1);
    setenv(size, "3", 1);
    const Outcome outcome = ingot({"data", "clean", path("in"), "--out", path(rank)});
    unsetenv(rank);
    unsetenv(size);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("process 1 of 3"), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(root_ / rank / "report.json"));
    EXPECT_EQ(tree(std::string(rank) + "/tasks").size(), 4u);  // records and the lock
  }
}

}  // namespace
}  // namespace ingot::test
