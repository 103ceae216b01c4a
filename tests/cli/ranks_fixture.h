// A tiny run whose ranks are processes: started one by one or by a launcher, watched, disturbed,
// and compared with the same run as threads of one process.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/namespaces.h"
#include "cli/run_fixture.h"
#include "core/storage/storage.h"
#include "support/build_folder.h"
#include "support/free_port.h"
#include "support/ledger_contents.h"

namespace ingot::test {

using Losses = std::map<int64_t, double>;  // by step
using Ranks = std::vector<std::unique_ptr<Process>>;

class RanksFixture : public RunFixture {
 protected:
  static bool has_mpi() {
    return !find_program("mpirun").empty() &&
           fs::exists(testing_support::build_folder() / "libingot_mpi.so");
  }

  static constexpr int kDidNotEnd = -1000;

  // Exit code, -signal, or kDidNotEnd.
  static int end_of(Process& process, double seconds = 30) {
    return comes_true([&] { return !process.is_running(); }, seconds) ? process.wait() : kDidNotEnd;
  }

  // `ingot train` into the folder `run`, on the CPU; `sets` are more KEY=VALUE. A rank of which
  // nothing is heard for three seconds is lost.
  Args run_args(const std::string& run, int64_t steps, const Args& sets = {}) const {
    Args all = {"system.device=cpu",
                "system.timeout_silence=3",
                "system.timeout_start=20",
                "checkpoint.every=3",
                "batch.seq=32",
                "train.steps=" + std::to_string(steps)};
    all.insert(all.end(), sets.begin(), sets.end());
    return train_args(run, all);
  }
  static constexpr int64_t kEndless = 10'000'000;  // steps

  Losses losses(const std::string& run) const {
    Losses found;
    const std::string ledger = path(run + "/ledger.jsonl");
    if (!fs::exists(ledger)) return found;
    for (const auto& record : read_ledger(*posix_storage(), ledger).records) {
      if (record.at("kind") == "step") found[record.at("step")] = record.at("loss");
    }
    return found;
  }
  int64_t last_step(const std::string& run) const {
    const Losses found = losses(run);
    return found.empty() ? 0 : found.rbegin()->first;
  }
  bool passes_step(const std::string& run, int64_t step) const {
    return comes_true([&] { return last_step(run) > step; });
  }

  // What ranks that are threads of one process get, undisturbed.
  Losses undisturbed(int ranks, int64_t steps, const Args& sets = {}) const {
    const std::string run = "undisturbed-" + std::to_string(ranks);
    fs::remove_all(path(run));
    Args all = sets;
    all.push_back("system.ranks=" + std::to_string(ranks));
    const Outcome one = ingot(run_args(run, steps, all));
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(last_step(run), steps);
    return losses(run);
  }

  // Whom each rank that was left wrote down as lost in the folder of the run, the last time.
  std::map<int, int> recorded_losses(const std::string& run) const {
    std::map<int, int> lost;
    std::istringstream lines(slurp(path(run + "/faults.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      const auto fault = nlohmann::json::parse(line);
      lost[fault.at("rank")] = fault.at("lost");
    }
    return lost;
  }

  // The process that is rank `rank` of the run into `run`, whoever started it; -1: there is none.
  pid_t rank_of(const std::string& run, int rank) const {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string words = slurp(entry.path() / "cmdline");
      if (!words.starts_with(program() + '\0') || words.find(path(run)) == std::string::npos) {
        continue;
      }
      const std::string variables = '\0' + slurp(entry.path() / "environ");
      for (const char* key : {"INGOT_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "RANK"}) {
        const std::string variable = '\0' + std::string(key) + '=' + std::to_string(rank) + '\0';
        if (variables.find(variable) != std::string::npos) return std::stoi(name);
      }
    }
    return -1;
  }
  void send(const std::string& run, int rank, int signal) const {
    const pid_t process = rank_of(run, rank);
    ASSERT_GT(process, 0) << "rank " << rank << " is not there";
    kill(process, signal);
  }

  // Starts rank r of `world` with the variables that torchrun sets, on host r of the network where
  // there is one; what it says goes to the folder «rank R».
  std::unique_ptr<Process> start_rank(int r, int world, const Args& train, int port) {
    const std::string folder = "rank " + std::to_string(r);
    fs::create_directories(path(folder));
    const bool apart = network_ != nullptr;
    Args words = apart ? network_->host(r).launcher() : Args{};
    words.insert(words.end(),
                 {"env", "RANK=" + std::to_string(r), "WORLD_SIZE=" + std::to_string(world),
                  "LOCAL_RANK=" + std::to_string(apart ? 0 : r),
                  "LOCAL_WORLD_SIZE=" + std::to_string(apart ? 1 : world),
                  "MASTER_ADDR=" + (apart ? Network::name(0) : "127.0.0.1"),
                  "MASTER_PORT=" + std::to_string(port)});
    return std::make_unique<Process>(train, path(folder), words);
  }
  Ranks start_ranks(int world, const Args& train) {
    Ranks ranks;
    const int port = testing_support::free_port();
    for (int r = 0; r < world; ++r) ranks.push_back(start_rank(r, world, train, port));
    return ranks;
  }

  std::unique_ptr<Network> network_;  // for tests that need hosts
};

}  // namespace ingot::test
