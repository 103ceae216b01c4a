// Runs whose ranks are processes, started as a user would: by `ingot launch`, by hand with the
// variables of torchrun, and what happens when one of them is lost.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "cli/run_fixture.h"
#include "core/storage/storage.h"
#include "support/ledger_contents.h"

namespace ingot::test {
namespace {

using namespace std::chrono_literals;

class Launch : public RunFixture {
 protected:
  void TearDown() override {
    for (const pid_t rank : pids_of_ranks()) kill(rank, SIGKILL);
    RunFixture::TearDown();
  }

  // A batch that 1, 2, 3 and 4 ranks can divide.
  Args run_args(const std::string& run, const Args& sets = {}) const {
    return train_args(run, with({"batch.tokens=384", "checkpoint.every=2"}, sets));
  }
  static Args launch_args(int ranks, const Args& command, const Args& options = {}) {
    Args args = {"launch", "-n", std::to_string(ranks)};
    args.insert(args.end(), options.begin(), options.end());
    args.push_back("--");
    args.insert(args.end(), command.begin(), command.end());
    return args;
  }
  Outcome launch(int ranks, const Args& command, const Args& options = {}) const {
    return ingot(launch_args(ranks, command, options));
  }

  // Every step's loss in its bits, those of a step that was repeated as they were last.
  std::map<int64_t, double> losses(const std::string& run) const {
    std::map<int64_t, double> found;
    for (const auto& record : read_ledger(*posix_storage(), path(run + "/ledger.jsonl")).records)
      if (record.at("kind") == "step") found[record.at("step")] = record.at("loss");
    return found;
  }
  int64_t num_steps(const std::string& run) const {
    return fs::exists(root_ / run / "ledger.jsonl") ? static_cast<int64_t>(losses(run).size()) : 0;
  }
  bool has_checkpoint(const std::string& run) const {
    if (!fs::exists(root_ / run)) return false;
    for (const auto& entry : fs::directory_iterator(root_ / run))
      if (entry.path().filename().string().starts_with("step_")) return true;
    return false;
  }

  // Ranks of this test's runs, or the one of that number.
  std::vector<pid_t> pids_of_ranks(std::optional<int> number = {}) const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string words = slurp(entry.path() / "cmdline");
      if (words.find(root_.string()) == std::string::npos ||
          words.find(std::string("\0train\0", 7)) == std::string::npos ||
          words.find(std::string("\0launch\0", 8)) != std::string::npos)
        continue;
      const std::string variables = '\0' + slurp(entry.path() / "environ");
      const auto is = [&](const std::string& variable) {
        return variables.find('\0' + variable + std::to_string(*number) + '\0') !=
               std::string::npos;
      };
      if (!number || is("INGOT_RANK=") || is("RANK=")) found.push_back(std::stoi(name));
    }
    return found;
  }
  pid_t pid_of(int rank) const {
    const auto found = pids_of_ranks(rank);
    return found.size() == 1 ? found[0] : -1;
  }

  // Until it is so, or `process` has ended.
  template <class Condition>
  static bool wait_for(const Process& process, Condition condition) {
    while (process.is_running()) {
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return condition();
  }

  // ingot, but with other arguments on one rank, before it or in its place.
  std::string program_with(const std::string& shell) const {
    write("ingot.sh", "#!/bin/sh\n" + shell + "\nexec " + program() + " \"$@\"\n");
    fs::permissions(root_ / "ingot.sh", fs::perms::owner_all);
    return path("ingot.sh");
  }

  static void expect_says(const std::string& said, const Args& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(said.find(part), std::string::npos) << part << "\nis not in:\n" << said;
  }
};

TEST_F(Launch, GivesTheBitsOfRanksThatAreThreads) {
  const std::pair<const char*, int> cases[] = {{"replicated", 2}, {"fully_sharded", 3}};
  for (const auto& [layout, ranks] : cases) {
    const std::string n = std::to_string(ranks),
                      data = "system.data_parallel=" + std::string(layout);
    const Outcome threads = ingot(run_args("threads" + n, {"system.ranks=" + n, data}));
    ASSERT_EQ(threads.code, 0) << threads.err;
    const Outcome processes = launch(ranks, run_args("processes" + n, {data}));
    ASSERT_EQ(processes.code, 0) << processes.err;
    EXPECT_EQ(losses("processes" + n).size(), 6u);
    EXPECT_EQ(losses("processes" + n), losses("threads" + n));
    EXPECT_EQ(processes.out, threads.out);
  }
}

TEST_F(Launch, ARunGoesOnWithAnotherNumberOfRanks) {
  ASSERT_EQ(launch(2, run_args("run", {"train.steps=3"})).code, 0);
  ASSERT_EQ(ingot(run_args("threads", {"train.steps=3", "system.ranks=2"})).code, 0);
  // By the folder alone, which says nothing of how many there are to be.
  const Outcome three =
      launch(3, {"train", "--resume", path("run"), "--set", "train.steps=6", "--json"});
  ASSERT_EQ(three.code, 0) << three.err;
  const Outcome also =
      ingot(with(run_args("threads", {"train.steps=6", "system.ranks=3"}), {"--resume"}));
  ASSERT_EQ(also.code, 0) << also.err;
  EXPECT_EQ(losses("run"), losses("threads"));
  const Outcome one = ingot({"train", "--resume", path("run"), "--set", "train.steps=8"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.err.find("resumed after step 6"), std::string::npos) << one.err;
}

TEST_F(Launch, RankZeroSpeaksAndOtherLinesSayWhoseTheyAre) {
  const std::string program =
      program_with("[ $INGOT_RANK = 1 ] && { echo to stdout; echo to stderr >&2; }");
  const Outcome outcome =
      launch(2, with(run_args("run"), {"--json"}), {"--program", program, "--env", "A=b"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_says(outcome.err, {"[1] to stdout\n", "[1] to stderr\n", "\nranks    2 processes",
                            "\nvalid    step 6"});
  EXPECT_EQ(outcome.err.find("[0]"), std::string::npos);
  EXPECT_EQ(outcome.err.find("[1] step"), std::string::npos);
  // stdout is rank 0's alone, and JSON its last line.
  EXPECT_EQ(outcome.out.find("to stdout"), std::string::npos);
  EXPECT_EQ(outcome.out.find("done: "), 0u);
  EXPECT_EQ(outcome.out[outcome.out.rfind('\n', outcome.out.size() - 2) + 1], '{');
}

TEST_F(Launch, ARankThatFailsEndsAllAndIsNamed) {
  const std::string program = program_with("[ $INGOT_RANK = 2 ] && { echo broken >&2; exit 1; }");
  const Outcome outcome = launch(3, run_args("run"), {"--program", program});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  expect_says(outcome.err, {"[2] broken\n", "rank 2 (host ", "ended with exit code 1"});
  EXPECT_TRUE(pids_of_ranks().empty());
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

// The others do not wait for one that cannot begin, and say what it said.
TEST_F(Launch, AnErrorBeforeTheFirstStepIsTheCulprits) {
  const std::string program =
      program_with("[ $INGOT_RANK = 1 ] && set -- \"$@\" --set data.train=/nowhere");
  const Outcome outcome = launch(2, run_args("run"), {"--program", program});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  expect_says(outcome.err, {"[1] ingot: rank 1: ", "ingot: rank 0: ", "rank 1 is lost: /nowhere",
                            "rank 1 (host "});
  // What it was in the middle of says nothing of an error that the other one has told.
  EXPECT_EQ(outcome.err.find("  at "), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(Launch, RanksThatDisagreeAreRefused) {
  const auto refused = [&](const std::string& word, const Args& parts) {
    const std::string program = program_with("[ $INGOT_RANK = 2 ] && set -- \"$@\" --set " + word);
    const Outcome outcome = launch(3, run_args("run"), {"--program", program});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    expect_says(outcome.err, parts);
    EXPECT_FALSE(fs::exists(root_ / "run"));
  };
  refused("optim.lr=0.25",
          {"settings differ", "«optim.lr = 0.001» on ranks 0, 1", "«optim.lr = 0.25» on rank 2"});
  write("other.txt", slurp(root_ / "text.txt") + "And one line more.\n");
  refused("data.train=" + path("other.txt"), {"data.train", "rank 2 has other data"});
  fs::create_directories(root_ / "elsewhere");
  refused("checkpoint.dir=" + path("elsewhere/run"), {"checkpoint.dir", "rank 2", "rank 0"});
  EXPECT_TRUE(fs::is_empty(root_ / "elsewhere"));
}

TEST_F(Launch, SettingsThatSayAnotherNumberOfRanksAreRefused) {
  const Outcome outcome = launch(2, run_args("run", {"system.ranks=3"}));
  EXPECT_EQ(outcome.code, 2);
  expect_says(outcome.err, {"system.ranks = 3", "ingot launch started 2 processes"});
}

TEST_F(Launch, ALostRankEndsTheRunAndItGoesOnAsIfNothingHappened) {
  const Args sets = {"train.steps=60"};
  ASSERT_EQ(ingot(run_args("whole", with(sets, {"system.ranks=3"}))).code, 0);
  {
    Process job(launch_args(3, run_args("run", {"train.steps=1000000"})), root_);
    ASSERT_TRUE(wait_for(job, [&] { return has_checkpoint("run") && num_steps("run") > 4; }));
    kill(pid_of(2), SIGKILL);
    const auto since = std::chrono::steady_clock::now();
    EXPECT_EQ(job.wait(), 4) << job.err();
    EXPECT_LT(std::chrono::steady_clock::now() - since, 30s);
    expect_says(job.err(), {"rank 2 (host ", "was killed by SIGKILL", "rank 2 is lost",
                            "the newest checkpoint is " + path("run/step_"),
                            "resume with: ingot launch -n 3 -- train --resume " + path("run")});
  }
  EXPECT_TRUE(pids_of_ranks().empty());
  const Outcome rest =
      launch(3, {"train", "--resume", path("run"), "--set", sets[0], "--accept-schedule"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  auto resumed = losses("run");
  while (resumed.size() > 60) resumed.erase(std::prev(resumed.end()));
  EXPECT_EQ(resumed, losses("whole"));
}

TEST_F(Launch, RestartsFromTheNewestCheckpointAsOftenAsAsked) {
  // In each of the first two attempts a rank is killed once a checkpoint is there.
  const std::string program =
      program_with("end_me() { me=$$; ( until ls " + path("run") +
                   "/step_*; do sleep 0.01; done; kill -9 $me ) >/dev/null 2>&1 & }\n"
                   "if [ $INGOT_RANK = 1 ]; then\n  if mkdir " +
                   path("a") + " 2>/dev/null; then end_me; elif mkdir " + path("b") +
                   " 2>/dev/null; then end_me; fi\nfi");
  ASSERT_EQ(ingot(run_args("whole", {"train.steps=60", "system.ranks=2"})).code, 0);
  const Outcome outcome =
      launch(2, run_args("run", {"train.steps=60"}), {"--restarts", "2", "--program", program});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_says(outcome.err, {"restart 1 of 2", "restart 2 of 2", "resumed after step"});
  EXPECT_EQ(losses("run"), losses("whole"));
  // Settings do not become right by trying again.
  const Outcome wrong = launch(2, run_args("run2", {"batch.seq=0"}), {"--restarts", "2"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err.find("restart"), std::string::npos) << wrong.err;
}

TEST_F(Launch, PassesSignalsOnAndStopsSaved) {
  Process job(launch_args(2, run_args("run", {"train.steps=1000000", "checkpoint.every=0"}),
                          {"--restarts", "5"}),
              root_);
  ASSERT_TRUE(wait_for(job, [&] { return num_steps("run") > 1; })) << job.err();
  EXPECT_FALSE(has_checkpoint("run"));
  job.signal(SIGUSR2);
  ASSERT_TRUE(wait_for(job, [&] { return has_checkpoint("run"); })) << job.err();
  ASSERT_TRUE(job.is_running());
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(), 3) << job.err();
  expect_says(job.err(), {"SIGUSR2: the run is saved", "SIGINT: the run is saved"});
  EXPECT_EQ(job.err().find("[1]"), std::string::npos) << job.err();  // one answer is enough
  EXPECT_TRUE(pids_of_ranks().empty());
}

TEST_F(Launch, RanksEndWithIt) {
  Process job(launch_args(2, run_args("run", {"train.steps=1000000"})), root_);
  ASSERT_TRUE(wait_for(job, [&] { return num_steps("run") > 1; })) << job.err();
  EXPECT_EQ(pids_of_ranks().size(), 2u);
  job.signal(SIGKILL);
  job.wait();
  for (int i = 0; i < 2000 && !pids_of_ranks().empty(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(pids_of_ranks().empty());
}

// Processes with torchrun's variables, as any launcher may start them.
class TorchRanks : public Launch {
 protected:
  void SetUp() override {
    Launch::SetUp();
    // Somewhere below the ports that systems hand out, and another one for each test.
    port_ = 10000 + getpid() * 7 % 5000 +
            static_cast<int>(::testing::UnitTest::GetInstance()->random_seed()) % 97;
  }
  std::unique_ptr<Process> start(int rank, int world, const Args& args,
                                 const Args& more = {}) const {
    const fs::path folder = root_ / ("rank" + std::to_string(rank));
    fs::create_directories(folder);
    const std::string r = std::to_string(rank), w = std::to_string(world);
    Args launcher = {"env",
                     "RANK=" + r,
                     "WORLD_SIZE=" + w,
                     "LOCAL_RANK=" + r,
                     "LOCAL_WORLD_SIZE=" + w,
                     "MASTER_ADDR=127.0.0.1",
                     "MASTER_PORT=" + std::to_string(port_)};
    return std::make_unique<Process>(args, folder, with(launcher, more));
  }
  int port_ = 0;
};

TEST_F(TorchRanks, GiveTheBitsOfRanksThatAreThreads) {
  ASSERT_EQ(ingot(run_args("threads", {"system.ranks=2"})).code, 0);
  const auto first = start(0, 2, run_args("run")), second = start(1, 2, run_args("run"));
  EXPECT_EQ(first->wait(), 0) << first->err();
  EXPECT_EQ(second->wait(), 0) << second->err();
  EXPECT_EQ(losses("run"), losses("threads"));
  EXPECT_EQ(second->out() + second->err(), "");
}

TEST_F(TorchRanks, HalfOfTheVariablesAreRefused) {
  Process process(run_args("run"), root_, {"env", "RANK=0", "WORLD_SIZE=2"});
  EXPECT_EQ(process.wait(), 2);
  expect_says(process.err(), {"LOCAL_RANK is not set"});
  Process beyond(run_args("run"), root_,
                 {"env", "RANK=2", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1",
                  "MASTER_ADDR=a", "MASTER_PORT=1"});
  EXPECT_EQ(beyond.wait(), 2);
  expect_says(beyond.err(), {"RANK and WORLD_SIZE"});
}

TEST_F(TorchRanks, ARankThatDoesNotComeIsNamed) {
  const auto only = start(0, 3, run_args("run", {"system.timeout_start=1"}));
  EXPECT_EQ(only->wait(), 4);
  expect_says(only->err(), {"1", "2"});
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

// Who is asked to stop while another is gone has nothing whole to save.
TEST_F(TorchRanks, AStopThatMeetsALostRankSavesNothing) {
  const Args args = run_args("run", {"train.steps=1000000", "checkpoint.every=0"});
  const auto first = start(0, 2, args), second = start(1, 2, args);
  ASSERT_TRUE(wait_for(*first, [&] { return num_steps("run") > 1; })) << first->err();
  const pid_t other = pid_of(1);
  kill(other, SIGSTOP);
  first->signal(SIGTERM);
  ASSERT_TRUE(wait_for(
      *first, [&] { return first->err().find("SIGTERM: the run is saved") != std::string::npos; }));
  kill(other, SIGKILL);
  EXPECT_EQ(first->wait(), 4) << first->err();
  EXPECT_FALSE(has_checkpoint("run"));
  expect_says(first->err(),
              {"rank 1 is lost", "no checkpoint was saved yet",
               "resume with: torchrun --standalone --nproc-per-node=2 --no-python ingot "
               "train --resume " +
                   path("run")});
}

// Machines behind something that is called as ssh is.
class LaunchHostsBySsh : public Launch {
 protected:
  void SetUp() override {
    Launch::SetUp();
    write("ssh", "#!/bin/sh\necho \"$@\" >> " + path("ssh.log") +
                     "\nwhile [ \"$1\" != -T ]; do shift; done\n"
                     "[ $2 = gone ] && { echo no route to gone >&2; exit 255; }\n"
                     "shift 3; echo Welcome; exec sh -c \"$*\"\n");
    fs::permissions(root_ / "ssh", fs::perms::owner_all);
  }
};

TEST_F(LaunchHostsBySsh, RunThereInTheSameFolderWithoutSecretsOnCommandLines) {
  ASSERT_EQ(ingot(run_args("threads", {"system.ranks=3"})).code, 0);
  const std::string program = program_with(
      "echo \"$INGOT_RANK $INGOT_LOCAL_RANK $INGOT_LOCAL_WORLD $A $NCCL_B $PWD\" "
      "\"$INGOT_SECRET\" > " +
      path("seen") + "$INGOT_RANK");
  setenv("NCCL_B", "passed", 1);
  const Outcome outcome =
      ingot(with({"launch", "--hosts", "one:2,two:1", "--ssh", path("ssh"), "--program", program,
                  "--address", "127.0.0.1", "--env", "A=given", "--"},
                 run_args("run")));
  unsetenv("NCCL_B");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(losses("run"), losses("threads"));
  const std::string here = fs::current_path().string();
  for (const std::string line : {"0 0 2", "1 1 2", "2 0 1"}) {
    const std::string seen = slurp(path("seen") + line.substr(0, 1));
    const std::string expected = line + " given passed " + here + " ";
    EXPECT_TRUE(seen.starts_with(expected)) << seen;
    const std::string secret = seen.substr(expected.size(), 32);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos) << seen;
    EXPECT_EQ(slurp(root_ / "ssh.log").find(secret), std::string::npos);
  }
  expect_says(slurp(root_ / "ssh.log"),
              {"BatchMode=yes", "ConnectTimeout=", " one -- ", " two -- "});
}

TEST_F(LaunchHostsBySsh, AHostThatIsNotReachedIsNamed) {
  const Outcome outcome = ingot(
      with({"launch", "--hosts", "one:1,gone:1", "--ssh", path("ssh"), "--"}, run_args("run")));
  EXPECT_EQ(outcome.code, 1);
  expect_says(outcome.err, {"[gone] no route to gone", "rank 1 (host gone) could not be started",
                            "exit code 255"});
}

TEST_F(LaunchHostsBySsh, RanksEndWithTheConnection) {
  Process job(with({"launch", "--hosts", "one:1,two:1", "--ssh", path("ssh"), "--address",
                    "127.0.0.1", "--"},
                   run_args("run", {"train.steps=1000000"})),
              root_);
  ASSERT_TRUE(wait_for(job, [&] { return num_steps("run") > 1; })) << job.err();
  job.signal(SIGKILL);
  job.wait();
  for (int i = 0; i < 2000 && !pids_of_ranks().empty(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(pids_of_ranks().empty());
}

}  // namespace
}  // namespace ingot::test
