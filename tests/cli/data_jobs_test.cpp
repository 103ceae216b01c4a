// The stages of data preparation as jobs of Open MPI and of Slurm: what a launcher's ranks share,
// and what is left when the launcher, the job or one of them is killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "cli/open_mpi.h"
#include "cli/programs.h"
#include "cli/slurm_cluster.h"
#include "cli/stage_fixture.h"

namespace ingot::test {
namespace {

class DataJobs : public StageFixture {
 protected:
  void SetUp() override {
    StageFixture::SetUp();
    write_corpus();
    write_task();
    stages_ = {
        {"clean", {"data", "clean", path("in"), "--keep-removed"}},
        {"dedup", {"data", "dedup", path("in"), "--keep-removed"}},
        {"decontaminate",
         {"data", "decontaminate", path("in"), "--against", path("task.jsonl"), "--keep-removed"}},
        {"tokenize",
         {"data", "tokenize", path("in"), "--tokenizer", "byte", "--task-bytes", "1000",
          "--shard-tokens", "50000"}},
    };
  }
  void TearDown() override {
    for (const pid_t rank : ranks("")) kill(rank, SIGKILL);
    StageFixture::TearDown();
  }

  // Processes that work on `out`, whoever started them.
  std::vector<pid_t> ranks(const std::string& out) const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string words = slurp(entry.path() / "cmdline");
      const bool is_ours =
          words.starts_with(program() + '\0') && words.find(path(out)) != std::string::npos;
      if (is_ours) found.push_back(std::stoi(name));
    }
    return found;
  }

  Outcome run_job(const Args& command, const std::string& out) const {
    Process job(with(command, {"--out", path(out), "--threads", "1"}), root_, launcher_);
    const int code = job.wait();
    return {code, job.out(), job.err()};
  }

  std::map<std::string, std::string> expected_of(const std::string& name,
                                                 const Args& command) const {
    const Outcome one = ingot(with(command, {"--out", path("one-" + name), "--threads", "1"}));
    EXPECT_EQ(one.code, 0) << one.err;
    return tree("one-" + name);
  }

  void expect_the_bytes_of_one_process() const {
    for (const auto& [name, command] : stages_) {
      const Outcome job = run_job(command, name);
      EXPECT_EQ(job.code, 0) << name << ": " << job.err;
      EXPECT_TRUE(tree(name) == expected_of(name, command)) << name;
    }
  }

  using Kill = std::function<void(const Process& job, const std::string& out)>;

  // Ends a job in each of the ways, when it has made so many files, and then lets one finish.
  void expect_the_bytes_of_one_process_after(const std::vector<Kill>& ways) const {
    int kills = 0;
    for (const auto& [name, command] : stages_) {
      for (const Kill& kill_job : ways) {
        const int64_t limit = num_files(name) + 5;
        Process job(with(command, {"--out", path(name), "--threads", "1"}), root_, launcher_);
        while (job.is_running() && num_files(name) < limit) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        kill_job(job, name);
        kills += job.wait() != 0;
      }
      // Whoever was left behind may still be at work.
      const Outcome job = run_job(command, name);
      EXPECT_EQ(job.code, 0) << name << ": " << job.err;
      EXPECT_TRUE(tree(name) == expected_of(name, command)) << name;
    }
    EXPECT_GE(kills, 3);  // a fast machine may be done before it is killed
  }

  void kill_one_rank(const std::string& out) const {
    if (const std::vector<pid_t> found = ranks(out); !found.empty()) kill(found.back(), SIGKILL);
  }

  Args launcher_;
  std::vector<std::pair<std::string, Args>> stages_;
};

class MpiJobs : public DataJobs {
 protected:
  void SetUp() override {
    if (find_program("mpirun").empty()) GTEST_SKIP() << "mpirun is not installed";
    DataJobs::SetUp();
    launcher_ = mpirun(3);
  }
};

TEST_F(MpiJobs, GiveTheBytesOfOneProcess) {
  expect_the_bytes_of_one_process();
}

// A killed launcher tells nobody: its ranks go on beside those of the next job.
TEST_F(MpiJobs, GoOnAfterTheLauncherOrARankWasKilled) {
  expect_the_bytes_of_one_process_after(
      {[](const Process& job, const std::string&) { job.signal(SIGKILL); },
       [this](const Process&, const std::string& out) { kill_one_rank(out); }});
}

class SlurmJobs : public DataJobs {
 protected:
  void SetUp() override {
    if (!SlurmCluster::is_installed()) GTEST_SKIP() << "Slurm is not installed";
    DataJobs::SetUp();
    cluster_.emplace(root_ / "slurm");
    launcher_ = {"srun", "-n", "3"};
  }
  void TearDown() override {
    cluster_.reset();
    DataJobs::TearDown();
  }
  std::optional<SlurmCluster> cluster_;
};

TEST_F(SlurmJobs, GiveTheBytesOfOneProcess) {
  expect_the_bytes_of_one_process();
}

// Of a rank that was killed srun tells nobody either: the others must not wait for it.
TEST_F(SlurmJobs, GoOnAfterTheyWereCancelledOrARankWasKilled) {
  expect_the_bytes_of_one_process_after(
      {[this](const Process&, const std::string&) { cluster_->cancel_all(); },
       [this](const Process&, const std::string& out) { kill_one_rank(out); }});
}

// A batch script has a rank of its own, and is alone all the same.
TEST_F(SlurmJobs, ABatchScriptIsOneProcess) {
  std::ofstream(root_ / "script.sh") << "#!/bin/sh\nexec " << program() << " data clean "
                                     << path("in") << " --out " << path("out") << "\n";
  Process batch(root_, {"sbatch", "--wait", "--ntasks=3", "--output=" + path("script.out"),
                        path("script.sh")});
  EXPECT_EQ(batch.wait(), 0) << batch.err() << slurp(root_ / "script.out");
  EXPECT_TRUE(fs::exists(root_ / "out/report.json")) << slurp(root_ / "script.out");
}

// The damaged file belongs to one rank; the others are told rather than left waiting for its keys.
TEST_F(SlurmJobs, AnErrorOfOneRankEndsTheJobAndNamesThePlace) {
  std::ofstream(root_ / "in/4.jsonl.gz") << "this is no gzip file";
  for (int attempt = 0; attempt < 2; ++attempt) {  // the second finds what the first left
    const Outcome job = run_job(stages_[1].second, "dedup");
    EXPECT_EQ(job.code, 1) << job.err;
    EXPECT_NE(job.err.find("4.jsonl.gz"), std::string::npos) << job.err;
    EXPECT_NE(job.err.find("ingot: rank "), std::string::npos) << job.err;
  }
  fs::remove(root_ / "in/4.jsonl.gz");
}

}  // namespace
}  // namespace ingot::test
