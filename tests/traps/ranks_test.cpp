// Ranks that are processes: docs/traps.md.
#include <signal.h>

#include <algorithm>

#include "cli/open_mpi.h"
#include "cli/ranks_fixture.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

constexpr int kRefused = 2, kLost = 4;

class RanksTrap : public RanksFixture {
 protected:
  void TearDown() override {
    for (int rank = 0; rank < 4; ++rank)
      if (const pid_t left = rank_of("run", rank); left > 0) kill(left, SIGKILL);
    RanksFixture::TearDown();
  }

  static Args launch(int ranks, const Args& command, const Args& options = {}) {
    Args args = {"launch", "-n", std::to_string(ranks)};
    args.insert(args.end(), options.begin(), options.end());
    args.push_back("--");
    return with(args, command);
  }
  static Args lines_of(const std::string& text) {
    std::istringstream stream(text);
    Args lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  static Args variables(const Args& more) { return with({"env"}, more); }
  // Of one rank of `world`, as torchrun sets them.
  static Args torch(int rank, int world, const Args& more = {}) {
    return with(variables({"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(world),
                           "LOCAL_RANK=" + std::to_string(rank),
                           "LOCAL_WORLD_SIZE=" + std::to_string(world), "MASTER_ADDR=127.0.0.1",
                           "MASTER_PORT=29500"}),
                more);
  }
  Outcome train_as(const Args& launcher) const {
    Process process(run_args("run", 3), root_, launcher);
    const int code = end_of(process);
    return {code, process.out(), process.err()};
  }
  // Whether it listens to signals as a run does.
  static bool handles_hangup(const Process& process) {
    std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (SIGHUP - 1) & 1) != 0;
    return false;
  }
  static void expect_said_once(const Outcome& outcome, const std::string& what) {
    EXPECT_EQ(outcome.code, kRefused) << outcome.err;
    const Args lines = lines_of(outcome.err);
    ASSERT_EQ(lines.size(), 1u) << outcome.err;
    EXPECT_TRUE(lines[0].starts_with("ingot: ")) << outcome.err;
    EXPECT_TRUE(contains(lines[0], what)) << outcome.err;
  }
};

TEST_F(RanksTrap, ALaunchOfARefusedSettingSaysWhyOnce) {
  const Args restarts = {"--restarts", "2"};
  expect_said_once(ingot(launch(3, run_args("run", 3, {"batch.seq=0"}), restarts)), "batch.seq");
  expect_said_once(ingot(launch(3, run_args("run", 3, {"system.ranks=2"}), restarts)),
                   "system.ranks = 2");
  expect_said_once(ingot(launch(3, {"train", "--no-such-option"}, restarts)), "--no-such-option");
}

// The other ranks of a dry run have nothing to do, and are through.
TEST_F(RanksTrap, ADryRunThatIsRefusedWaitsForNobody) {
  ASSERT_EQ(ingot(run_args("run", 3)).code, 0);
  expect_said_once(ingot(launch(2, with(run_args("run", 3), {"--dry-run"}))), path("run"));
  expect_said_once(ingot(launch(2, with(run_args("run", 3, {"batch.seq=0"}), {"--dry-run"}))),
                   "batch.seq");
}

TEST_F(RanksTrap, ALaunchOnAUsedFolderSaysSoOnce) {
  ASSERT_EQ(ingot(launch(2, run_args("run", 3))).code, 0);
  const Outcome again = ingot(launch(2, run_args("run", 3), {"--restarts", "2"}));
  expect_said_once(again, path("run"));
  for (const char* word : {"continue by", "resume with:", " at ", "restart"})
    EXPECT_FALSE(contains(again.err, word)) << again.err;
}

// Who hears that another rank refuses has lost nobody: it says so, without a stack.
TEST_F(RanksTrap, ARefusalThatAnotherRankHasIsNoLostRank) {
  ASSERT_EQ(ingot(run_args("run", 3)).code, 0);
  Ranks ranks = start_ranks(2, run_args("run", 3));
  for (auto& rank : ranks) {
    EXPECT_EQ(end_of(*rank), kRefused) << rank->err();
    EXPECT_EQ(lines_of(rank->err()).size(), 1u) << rank->err();
    EXPECT_FALSE(contains(rank->err(), "resume with:")) << rank->err();
  }
  EXPECT_TRUE(contains(ranks[1]->err(), "ingot: rank 1: rank 0 refuses the run: "))
      << ranks[1]->err();
}

TEST_F(RanksTrap, MpiThatDoesNotStartEndsWithTheHostAndWhatToCheck) {
  if (!has_mpi()) GTEST_SKIP() << "MPI is not installed";
  write("ingot.sh", "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && kill -STOP $$\nexec " +
                        program() + " \"$@\"\n");
  fs::permissions(root_ / "ingot.sh", fs::perms::owner_all);
  Process job(root_, with(with(mpirun(2), {path("ingot.sh")}),
                          run_args("run", 3, {"system.timeout_start=2"})));
  EXPECT_EQ(end_of(job), kLost) << job.err();
  for (const char* part : {"rank 0: MPI_Init on host ", " did not end within 2.0 s", "Check that",
                           "system.timeout_start"})
    EXPECT_TRUE(contains(job.err(), part)) << part << "\n" << job.err();
}

TEST_F(RanksTrap, TheCommandToResumeIsTorchrunsOwn) {
  const auto expect_command = [&](const Args& more, const std::string& command) {
    fs::remove_all(path("run"));
    const int port = testing_support::free_port();
    const auto start = [&](int rank) {
      fs::create_directories(root_ / std::to_string(rank));
      return std::make_unique<Process>(
          run_args("run", kEndless), root_ / std::to_string(rank),
          torch(rank, 2, with({"MASTER_PORT=" + std::to_string(port)}, more)));
    };
    const auto first = start(0), second = start(1);
    ASSERT_TRUE(passes_step("run", 1)) << first->err();
    second->signal(SIGKILL);
    EXPECT_EQ(end_of(*first), kLost) << first->err();
    EXPECT_TRUE(contains(first->err(), "resume with: " + command)) << first->err();
    EXPECT_TRUE(contains(first->err(), "ingot train --resume " + path("run"))) << first->err();
    // The rank that speaks, not the one it speaks of.
    EXPECT_TRUE(contains(first->err(), "\ningot: rank 0: ")) << first->err();
    EXPECT_FALSE(contains(first->err(), "\ningot: rank 1: ")) << first->err();
  };
  expect_command({}, "torchrun --standalone --nproc-per-node=2 --no-python ingot ");
  expect_command({"LOCAL_WORLD_SIZE=1", "LOCAL_RANK=0"},
                 "torchrun --nnodes=2 --node-rank=0 --master-addr=127.0.0.1 --master-port=");
}

TEST_F(RanksTrap, VariablesOfSrunThatAreThereInPartAreRefused) {
  const Args all = {"SLURM_PROCID=0",
                    "SLURM_STEP_NUM_TASKS=2",
                    "SLURM_LOCALID=0",
                    "SLURM_NODEID=0",
                    "SLURM_JOB_ID=7",
                    "SLURM_STEP_ID=0",
                    "SLURM_STEP_TASKS_PER_NODE=2",
                    "SLURM_STEP_NODELIST=localhost"};
  for (const char* missing : {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NODEID"}) {
    Args part = all;
    std::erase_if(part, [&](const std::string& one) { return one.starts_with(missing); });
    const Outcome outcome = train_as(variables(part));
    EXPECT_EQ(outcome.code, kRefused) << missing << outcome.err;
    EXPECT_TRUE(contains(outcome.err, std::string(missing) + " is not set")) << outcome.err;
    EXPECT_FALSE(fs::exists(path("run")));
  }
}

TEST_F(RanksTrap, TorchrunsVariablesWinOverSrunsAndThatIsSaid) {
  const Args slurm = {"SLURM_PROCID=1",
                      "SLURM_STEP_NUM_TASKS=4",
                      "SLURM_LOCALID=0",
                      "SLURM_NODEID=1",
                      "SLURM_STEP_TASKS_PER_NODE=1(x4)",
                      "SLURM_STEP_NODELIST=nowhere[1-4]",
                      "SLURM_JOB_ID=7",
                      "SLURM_STEP_ID=0"};
  const std::string port = "MASTER_PORT=" + std::to_string(testing_support::free_port());
  fs::create_directories(root_ / "1");
  Process first(run_args("run", 3), root_, torch(0, 2, with({port}, slurm)));
  Process second(run_args("run", 3), root_ / "1", torch(1, 2, with({port}, slurm)));
  EXPECT_EQ(end_of(first), 0) << first.err();
  EXPECT_EQ(end_of(second), 0) << second.err();
  EXPECT_TRUE(contains(first.err(),
                       "RANK 0 of WORLD_SIZE 2 is used, not SLURM_PROCID 1 of "
                       "SLURM_STEP_NUM_TASKS 4"))
      << first.err();
  EXPECT_EQ(second.err(), "");
}

TEST_F(RanksTrap, TwoLaunchersThatContradictEachOtherAreRefused) {
  const Outcome outcome =
      train_as(torch(0, 2,
                     {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4",
                      "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=4"}));
  EXPECT_EQ(outcome.code, kRefused) << outcome.err;
  for (const char* part : {"RANK 0 of WORLD_SIZE 2 (torchrun)",
                           "OMPI_COMM_WORLD_RANK 1 of OMPI_COMM_WORLD_SIZE 4 (mpirun)"})
    EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
}

// A stopped process hears no SIGTERM: once it alone is left it is killed.
TEST_F(RanksTrap, ALaunchEndsWithTheRanksThatAFrozenOneLeaves) {
  for (const int frozen : {1, 0}) {
    fs::remove_all(path("run"));
    Process job(launch(3, run_args("run", kEndless)), root_);
    ASSERT_TRUE(passes_step("run", 2)) << job.err();
    send("run", frozen, SIGSTOP);
    EXPECT_EQ(end_of(job), kLost) << job.err();
    const std::string name = "rank " + std::to_string(frozen);
    const Args lines = lines_of(job.err());
    ASSERT_GT(lines.size(), 2u);
    EXPECT_TRUE(lines.back().starts_with("ingot launch: " + name + " (host ")) << lines.back();
    EXPECT_TRUE(contains(lines.back(), "was lost")) << lines.back();
    // Before it had waited for others to hear its signals.
    const std::string killed = "ingot launch: " + name + " (host ";
    EXPECT_TRUE(lines[lines.size() - 2].starts_with(killed)) << job.err();
    EXPECT_TRUE(contains(lines[lines.size() - 2], "does not end: it is killed")) << job.err();
    EXPECT_LT(rank_of("run", frozen), 0);
    for (const std::string& line : lines) {
      EXPECT_FALSE(line.starts_with("ingot: " + name)) << line;
      EXPECT_FALSE(line.starts_with("[2] ingot: " + name)) << line;
    }
  }
}

TEST_F(RanksTrap, ALaunchOfACommandWithoutRanksIsRefused) {
  const Args learn = {"tokenizer", "train", "--input", path("text.txt"),
                      "--vocab",   "300",   "--out",   path("t.json")};
  expect_said_once(ingot(launch(2, learn)), "«tokenizer» has no ranks");
  EXPECT_FALSE(fs::exists(root_ / "t.json"));
  expect_said_once(ingot(launch(2, launch(2, run_args("run", 3)))), "«launch» has no ranks");
  expect_said_once(ingot(launch(2, {"bench", "encode"})), "«bench encode» has no ranks");
}

TEST_F(RanksTrap, AnOptionOfTheRanksBeforeTheDashesIsToldWhereItBelongs) {
  const Outcome refused =
      ingot({"launch", "-n", "2", "train", path("recipe.toml"), "--set", "a=1"});
  expect_said_once(refused, "comes after --");
}

// There is nothing to save yet, and the others may never come.
TEST_F(RanksTrap, ASignalEndsARankThatWaitsForTheOthersAtTheStart) {
  const Args args = run_args("run", 3, {"system.timeout_start=100"});
  for (const int rank : {0, 1})
    for (const int number : {SIGTERM, SIGINT}) {
      Process waiting(args, root_, torch(rank, 2));
      ASSERT_TRUE(comes_true([&] { return handles_hangup(waiting); }));
      waiting.signal(number);
      EXPECT_EQ(end_of(waiting, 10), -number) << rank << waiting.err();
      EXPECT_TRUE(contains(waiting.err(), "before all ranks had come")) << waiting.err();
    }
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

// Later there is a rank that hears it.
TEST_F(RanksTrap, ASignalBeforeAnyRankWasStartedEndsTheLaunch) {
  write("ssh", "#!/bin/sh\ntouch " + path("called") + "\nexec sleep 60\n");
  fs::permissions(root_ / "ssh", fs::perms::owner_all);
  const Args args = launch(2, run_args("run", 3), {"--hosts", "away:2", "--ssh", path("ssh")});
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    fs::remove(root_ / "called");
    Process job(args, root_);
    ASSERT_TRUE(comes_true([&] { return fs::exists(root_ / "called"); })) << job.err();
    job.signal(number);
    EXPECT_EQ(end_of(job, 10), 1);
    EXPECT_TRUE(contains(job.err(), "a signal came before any rank was started")) << job.err();
  }
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

}  // namespace
}  // namespace ingot::test
