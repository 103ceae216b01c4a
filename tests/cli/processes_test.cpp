// Who a process is among those that a launcher started, and what it makes of that.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "cli/launch/agent_words.h"
#include "cli/launch/hosts.h"
#include "cli/launch/notes.h"
#include "cli/start/cores.h"
#include "cli/start/launched.h"
#include "cli/start/nodelist.h"
#include "cli/start/watchdog.h"
#include "core/error/error.h"

namespace ingot::cli {
namespace {

using Variables_ = std::map<std::string, std::string>;

std::optional<Launched> launched_by(const Variables_& set) {
  return launched([&](const char* name) -> const char* {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  });
}

template <class Run>
std::string refusal(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string refusal_of(const Variables_& set) {
  return refusal([&] { launched_by(set); });
}

void expect_names(const std::string& refused, const std::string& name) {
  EXPECT_NE(refused.find(name), std::string::npos) << "«" << refused << "» does not name " << name;
}

const Variables_ kIngot = {{"INGOT_RANK", "3"},       {"INGOT_WORLD", "5"},
                           {"INGOT_LOCAL_RANK", "1"}, {"INGOT_LOCAL_WORLD", "2"},
                           {"INGOT_SECRET", "s"},     {"INGOT_RENDEZVOUS", "a:7000"}};
const Variables_ kTorch = {{"RANK", "1"},
                           {"WORLD_SIZE", "4"},
                           {"LOCAL_RANK", "1"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"MASTER_ADDR", "10.0.0.1"},
                           {"MASTER_PORT", "29500"}};
const Variables_ kMpi = {{"OMPI_COMM_WORLD_RANK", "0"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}};
const Variables_ kSlurm = {{"SLURM_PROCID", "9"},
                           {"SLURM_STEP_NUM_TASKS", "10"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODEID", "2"},
                           {"SLURM_STEP_TASKS_PER_NODE", "4(x2),2"},
                           {"SLURM_STEP_NODELIST", "node[07-08,12]"},
                           {"SLURM_JOB_ID", "17"},
                           {"SLURM_STEP_ID", "0"}};

TEST(Launched, ReadsWhatEachLauncherLeaves) {
  const auto ingot = launched_by(kIngot), torch = launched_by(kTorch), mpi = launched_by(kMpi),
             slurm = launched_by(kSlurm);
  EXPECT_EQ(ingot->rank, 3);
  EXPECT_EQ(ingot->world, 5);
  EXPECT_EQ(ingot->local_rank, 1);
  EXPECT_EQ(ingot->local_world, 2);
  EXPECT_EQ(ingot->rendezvous, "a:7000");
  EXPECT_EQ(ingot->secret, "s");
  EXPECT_EQ(torch->rank, 1);
  EXPECT_EQ(torch->rendezvous, "10.0.0.1:29500");
  EXPECT_EQ(mpi->rendezvous, "mpi");
  EXPECT_EQ(mpi->local_world, 1);
  EXPECT_EQ(slurm->rank, 9);
  EXPECT_EQ(slurm->local_rank, 1);
  EXPECT_EQ(slurm->local_world, 2);
  EXPECT_TRUE(slurm->rendezvous.starts_with("node07:")) << slurm->rendezvous;
}

TEST(Launched, IsNothingForOneProcess) {
  EXPECT_FALSE(launched_by({}));
  Variables_ one = kIngot;
  one["INGOT_WORLD"] = one["INGOT_LOCAL_WORLD"] = "1";
  one["INGOT_RANK"] = one["INGOT_LOCAL_RANK"] = "0";
  EXPECT_FALSE(launched_by(one));
  // A batch script of Slurm: a rank and no step.
  EXPECT_FALSE(launched_by({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));
}

TEST(Launched, TheInnermostLauncherIsTheOne) {
  const auto both = [](Variables_ inner, const Variables_& outer) {
    inner.insert(outer.begin(), outer.end());
    return launched_by(inner)->by;
  };
  EXPECT_EQ(both(kIngot, kSlurm), "ingot launch");
  EXPECT_EQ(both(kIngot, kTorch), "ingot launch");
  EXPECT_EQ(both(kTorch, kSlurm), "torchrun");
  EXPECT_EQ(both(kMpi, kSlurm), "mpirun");
  EXPECT_EQ(both(kTorch, {{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}),
            "torchrun");  // both say the same
  // A job script that says where its ranks meet, and how many they are, for torch.
  Variables_ script = kSlurm;
  script["WORLD_SIZE"] = "10";
  script["MASTER_ADDR"] = "node07";
  script["MASTER_PORT"] = "1234";
  EXPECT_EQ(launched_by(script)->by, "srun");
  EXPECT_EQ(launched_by(script)->rendezvous, "node07:1234");
}

// Any one of them missing, of any launcher that needs it, is named.
TEST(Launched, HalfOfTheVariablesAreRefused) {
  for (const Variables_& all : {kIngot, kTorch, kMpi}) {
    for (const auto& [name, value] : all) {
      if (name == "INGOT_SECRET") continue;
      Variables_ half = all;
      half.erase(name);
      expect_names(refusal_of(half), name);
      half[name] = "";
      expect_names(refusal_of(half), name);
    }
  }
  for (const std::string name : {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                                 "SLURM_NODEID", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    Variables_ half = kSlurm;
    half.erase(name);
    expect_names(refusal_of(half), name);
  }
}

TEST(Launched, ContradictionsAreRefused) {
  const auto with = [](Variables_ set, const std::string& name, const std::string& value) {
    set[name] = value;
    return refusal_of(set);
  };
  expect_names(with(kTorch, "RANK", "4"), "WORLD_SIZE");
  expect_names(with(kTorch, "RANK", "-1"), "RANK");
  expect_names(with(kTorch, "RANK", "two"), "RANK");
  expect_names(with(kTorch, "WORLD_SIZE", "0"), "WORLD_SIZE");
  expect_names(with(kTorch, "LOCAL_RANK", "4"), "LOCAL_RANK");
  expect_names(with(kTorch, "LOCAL_WORLD_SIZE", "8"), "LOCAL_WORLD_SIZE");
  expect_names(with(kTorch, "MASTER_PORT", "70000"), "MASTER_PORT");
  expect_names(with(kIngot, "INGOT_WORLD", "3"), "INGOT_WORLD");
  expect_names(with(kSlurm, "SLURM_LOCALID", "2"), "SLURM_LOCALID");
  expect_names(with(kSlurm, "SLURM_NODEID", "3"), "node 3");
  expect_names(refusal_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), "PMI_RANK");
  Variables_ two = kTorch;
  two.insert(kMpi.begin(), kMpi.end());
  expect_names(refusal_of(two), "RANK 1 of WORLD_SIZE 4 (torchrun)");
  expect_names(refusal_of(two), "OMPI_COMM_WORLD_RANK 0 of OMPI_COMM_WORLD_SIZE 2 (mpirun)");
  // torchrun as the one process of an mpirun.
  two["OMPI_COMM_WORLD_SIZE"] = two["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_EQ(launched_by(two)->by, "torchrun");
}

TEST(Launched, TorchrunsVariablesThatWinAreNamed) {
  const auto of = [](const Variables_& set) {
    return passed_over([&](const char* name) -> const char* {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(of(kTorch), "");
  EXPECT_EQ(of(kSlurm), "");
  Variables_ both = kTorch;
  both.insert(kSlurm.begin(), kSlurm.end());
  EXPECT_EQ(of(both),
            "RANK 1 of WORLD_SIZE 4 is used, not SLURM_PROCID 9 of SLURM_STEP_NUM_TASKS 10");
  both.insert(kIngot.begin(), kIngot.end());
  EXPECT_EQ(of(both), "");
}

TEST(Launched, TorchrunStartsWhatItStartedAgain) {
  const auto of = [](Variables_ set) {
    const Variables variables = [&](const char* name) -> const char* {
      const auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    };
    return torchrun_command(*launched(variables), "train --resume r", variables);
  };
  EXPECT_EQ(of(kTorch),
            "torchrun --standalone --nproc-per-node=4 --no-python ingot train --resume r");
  Variables_ several = kTorch;
  several["RANK"] = "5", several["WORLD_SIZE"] = "8";
  EXPECT_EQ(of(several),
            "torchrun --nnodes=2 --node-rank=1 --master-addr=10.0.0.1 --master-port=29500 "
            "--nproc-per-node=4 --no-python ingot train --resume r");
  several["GROUP_RANK"] = "0";
  EXPECT_NE(of(several).find("--node-rank=0"), std::string::npos);
}

TEST(Nodelist, ItsFirstHostIsFound) {
  const std::map<std::string, std::string> firsts = {{"node3", "node3"},
                                                     {"node3,gpu1", "node3"},
                                                     {"node[3-5,9],gpu1", "node3"},
                                                     {"node[003-005]", "node003"},
                                                     {"n[7]", "n7"},
                                                     {"rack[1-2]n[04-09]-ib,x", "rack1n04-ib"},
                                                     {"a.b-c_d,e", "a.b-c_d"},
                                                     {"[1-3]", "1"}};
  for (const auto& [list, first] : firsts) EXPECT_EQ(first_host(list), first) << list;
  for (const std::string bad : {"", ",", "n[", "n[]", "n[1", "n[1-", "n[1-]", "n[a]", "n[1,]", "n]",
                                "n[1]]", "a b", "n[1--2]"})
    EXPECT_NE(refusal([&] { first_host(bad); }), "") << bad;
}

TEST(Nodelist, CountsOfNodesAreFound) {
  EXPECT_EQ(count_on_node("4(x2),3", 0), 4);
  EXPECT_EQ(count_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(count_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(count_on_node("8", 0), 8);
  for (const std::string bad : {"", "x", "4(x", "4(x)", "4(x0)", "4(x2", "4,", "99999999999"})
    EXPECT_NE(refusal([&] { count_on_node(bad, 5); }), "") << bad;
  EXPECT_NE(refusal([] { count_on_node("4(x2),3", 3); }), "");
}

TEST(LaunchHosts, AreReadFromAListAndFromAFile) {
  const std::vector<HostSlots> expected = {{"a", 0}, {"b.c", 4}, {"me@d", 8}};
  EXPECT_EQ(parse_hosts("a,b.c:4,me@d:8", "--hosts"), expected);
  EXPECT_EQ(parse_hosts("# of the cluster\na\n\nb.c:4  # old\n  me@d slots=8\n", "f"), expected);
  for (const std::string bad :
       {"", "#", "a:", "a:0", "a:x", "a,a", "a b", "-oProxyCommand=x", "a;b"})
    EXPECT_NE(refusal([&] { parse_hosts(bad, "--hosts"); }), "") << bad;
}

TEST(LaunchHosts, RanksAreDealtToThem) {
  const auto dealt = [](const std::string& hosts, int ranks) {
    std::string text;
    for (const HostRanks& host : place_ranks(parse_hosts(hosts, "--hosts"), ranks))
      text += host.host + ":" + std::to_string(host.first) + "+" + std::to_string(host.count) + " ";
    return text;
  };
  EXPECT_EQ(dealt("a:3,b:2", 0), "a:0+3 b:3+2 ");
  EXPECT_EQ(dealt("a:3,b:2", 4), "a:0+3 b:3+1 ");
  EXPECT_EQ(dealt("a:3,b:2", 2), "a:0+2 ");
  EXPECT_EQ(dealt("a,b", 5), "a:0+2 b:2+3 ");
  expect_names(refusal([&] { dealt("a:3,b:2", 6); }), "take 5");
  expect_names(refusal([&] { dealt("a,b", 0); }), "-n N");
  expect_names(refusal([&] { dealt("a:2,b", 3); }), "of every host");
}

TEST(Cores, ListsAreReadAndWritten) {
  EXPECT_EQ(*parse_cores("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(text_of_cores({8, 1, 0, 2}), "0-2,8");
  for (const std::string bad : {"-", "1-", "a", "1,,2", "1,", "-1", "99999999"})
    EXPECT_FALSE(parse_cores(bad)) << bad;
}

TEST(Cores, RanksDivideThemWithoutOverlap) {
  const std::vector<int> all = {0, 4, 1, 5, 2, 6, 3};  // a core's threads beside each other
  for (const int ranks : {1, 2, 3, 5, 7}) {
    const std::vector<std::vector<int>> near(static_cast<size_t>(ranks));
    std::vector<int> together;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<int> own = cores_of_rank(all, near, rank);
      EXPECT_FALSE(own.empty());
      together.insert(together.end(), own.begin(), own.end());
    }
    EXPECT_EQ(together, all);
  }
  // Fewer cores than ranks are everyone's.
  EXPECT_EQ(cores_of_rank(all, std::vector<std::vector<int>>(8), 3), all);
}

TEST(Cores, ARankKeepsToThoseNearItsGpu) {
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7}, low = {0, 1, 2, 3}, high = {4, 5, 6, 7};
  const std::vector<std::vector<int>> near = {high, low, high, {}};
  EXPECT_EQ(cores_of_rank(all, near, 0), (std::vector<int>{4, 5}));
  EXPECT_EQ(cores_of_rank(all, near, 1), low);
  EXPECT_EQ(cores_of_rank(all, near, 2), (std::vector<int>{6, 7}));
  EXPECT_EQ(cores_of_rank(all, near, 3), (std::vector<int>{6, 7}));  // its share of all
  // None of those near is allowed.
  EXPECT_EQ(cores_of_rank(low, std::vector{high, high}, 1), (std::vector<int>{2, 3}));
}

TEST(RankNotes, SayWhatARankRefusesAndWhomItLost) {
  EXPECT_EQ(parse_note("refuses batch.seq: expected 1").refusal, "batch.seq: expected 1");
  EXPECT_EQ(parse_note("lost 12").lost, 12);
  for (const std::string other : {"", "lost", "lost x", "lost 1x", "found 1"}) {
    EXPECT_FALSE(parse_note(other).lost) << other;
    EXPECT_FALSE(parse_note(other).refusal) << other;
  }
}

TEST(AgentWords, ReadBackAsTheyWereWritten) {
  const AgentJob job{"/a b", "/x/ingot", {"train", "a'\"\n"}, {{"K", "V"}}, 2, 3, 8};
  const AgentJob read = parse_job(to_text(job));
  EXPECT_EQ(read.args, job.args);
  EXPECT_EQ(read.variables, job.variables);
  EXPECT_EQ(read.first + read.count * 100 + read.world * 10000, 2 + 300 + 80000);
  const auto line = [](std::string text) {
    EXPECT_EQ(text.back(), '\n');
    text.pop_back();
    return text;
  };
  const auto event = parse_event(line(to_text(RankEvent{RankEvent::Kind::Err, 12, " a b ", 0})));
  EXPECT_EQ(event->text, " a b ");
  EXPECT_EQ(event->rank, 12);
  EXPECT_EQ(parse_event(line(to_text(RankEvent{RankEvent::Kind::Killed, 3, "", 9})))->number, 9);
  EXPECT_EQ(parse_event(line(to_text(RankEvent{RankEvent::Kind::Out, 0, "", 0})))->text, "");
  EXPECT_EQ(parse_event(line(to_text(RankEvent{RankEvent::Kind::Note, 1, "lost 2", 0})))->text,
            "lost 2");
  EXPECT_EQ(parse_greeting(line(greeting(1234))), 1234);
  EXPECT_EQ(parse_signal(line(signal_text(15))), 15);
  for (const std::string bad : {"", "o", "o ", "o 1", "z 1 x", "x 1 y", "o -1 x", "k 1 "})
    EXPECT_FALSE(parse_event(bad)) << bad;
  EXPECT_NE(refusal([] { parse_job("{}"); }), "");
}

TEST(WatchdogDeathTest, EndsAProcessThatDoesNotComeBackAndSaysWhereItIs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stuck = [] {
    Watch watch;
    watch.begin("all_gather #12 among 0,1");
    const Watchdog watchdog([] { return std::optional<std::string>("rank 1 is lost: silent"); },
                            watch, std::chrono::milliseconds(200));
    std::this_thread::sleep_for(std::chrono::minutes(10));
  };
  // The stack is of the thread that sleeps.
  EXPECT_EXIT(stuck(), ::testing::ExitedWithCode(4),
              "rank 1 is lost: silent(.|\n)*all_gather #12(.|\n)*stands at(.|\n)*libc");
}

TEST(WatchdogTest, LeavesAProcessAloneThatEndsInTimeOrLostNobody) {
  Watch watch;
  {
    const Watchdog lost([] { return std::optional<std::string>("rank 1 is lost"); }, watch,
                        std::chrono::minutes(1));
  }
  std::atomic<int> asked = 0;
  const Watchdog well(
      [&] {
        ++asked;
        return std::nullopt;
      },
      watch, std::chrono::milliseconds(0));
  while (asked < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace ingot::cli
