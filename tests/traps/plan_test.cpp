// What a run takes and how fast it is: docs/traps.md.
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using Json = nlohmann::json;

class PlanTrap : public Trap {
 protected:
  static Args sets_of(const Args& settings) {
    Args args;
    for (const std::string& setting : settings) args.insert(args.end(), {"--set", setting});
    return args;
  }
  Outcome memory(const Args& settings, const std::string& gpu) const {
    return ingot(with(with({"plan", "memory", "--json"}, sets_of(settings)), {"--gpu", gpu}));
  }
};

// Seven billion parameters and AdamW's states are 112 GB: no sequence is short enough for 80.
TEST_F(PlanTrap, AdviceOnMemoryIsWhatWasTriedOnTheTable) {
  const Args run = {"preset=llama_7b", "batch.micro_batch=1"};
  const Outcome plan = memory(run, "h100");
  ASSERT_EQ(plan.code, 1) << plan.err;
  EXPECT_FALSE(contains(plan.out, "shorter batch.seq")) << plan.out;
  const Json json = result_of(plan);
  ASSERT_TRUE(json.contains("changes")) << plan.out;
  size_t fit = 0;
  for (const Json& change : json.at("changes")) {
    const Args settings = change.at("settings");
    const Outcome with_it = memory(with(run, settings), "h100");
    EXPECT_EQ(with_it.code, change.at("fits") ? 0 : 1) << change;
    EXPECT_EQ(result_of(with_it).at("bytes_per_rank"), change.at("needed_bytes")) << change;
    EXPECT_EQ(json.at("bytes_per_rank").get<int64_t>() - change.at("needed_bytes").get<int64_t>(),
              change.at("gives_bytes"));
    fit += change.at("fits") ? 1 : 0;
  }
  EXPECT_GT(fit, 0u);
  EXPECT_TRUE(contains(plan.out, "--set system.offload_optimizer=true")) << plan.out;
}

// On a small GPU two things are needed at once.
TEST_F(PlanTrap, AdviceOnMemoryCombinesChangesWhereOneIsNotEnough) {
  const Args run = {"preset=llama_7b", "batch.seq=2048", "batch.micro_batch=8",
                    "train.recompute=none"};
  const Outcome plan = memory(run, "a6000");
  ASSERT_EQ(plan.code, 1) << plan.err;
  const Json json = result_of(plan);
  ASSERT_TRUE(json.contains("changes")) << plan.out;
  const Json& changes = json.at("changes");
  const auto fits = std::ranges::find_if(changes, [](const Json& one) { return one.at("fits"); });
  ASSERT_NE(fits, changes.end()) << plan.out;
  EXPECT_GT(fits->at("settings").size(), 1u) << *fits;
  EXPECT_EQ(memory(with(run, fits->at("settings")), "a6000").code, 0) << *fits;
}

TEST_F(PlanTrap, ARunThatIsRefusedForMemoryGetsTheSameAdvice) {
  const Args large = {"preset=debug_120m", "batch.micro_batch=65536", "batch.seq=2048"};
  const auto expect_advice = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "it fits with --set batch.micro_batch=")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, " (gives ")) << outcome.err;
  };
  const Args on_cpu = with(large, {"system.device=cpu"});
  expect_advice(ingot(train_args("run", on_cpu)));
  expect_advice(ingot(with(train_args("run", on_cpu), {"--dry-run"})));
  expect_advice(ingot(with({"bench", "train", "--device", "cpu", "--batch", "65536"},
                           sets_of({"preset=debug_120m", "batch.seq=2048"}))));
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(PlanTrap, AGpuIsKnownByWhatPeopleCallIt) {
  const std::pair<const char*, const char*> cases[] = {{"a100-80gb", "NVIDIA A100-SXM4-80GB"},
                                                       {"A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB"},
                                                       {"h100-sxm", "NVIDIA H100 80GB HBM3"},
                                                       {"RTX 4090", "NVIDIA GeForce RTX 4090"}};
  for (const auto& [name, device] : cases) {
    const Outcome plan = memory({"preset=llama_10m"}, name);
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_EQ(result_of(plan).value("device", ""), device) << name;
  }
  const Outcome near = memory({}, "a100-80g");
  EXPECT_EQ(near.code, 2);
  EXPECT_TRUE(contains(near.err, "did you mean a100-80gb?")) << near.err;
}

// Two programs for each core that compute while it lives.
class BusyMachine {
 public:
  explicit BusyMachine(const fs::path& folder) {
    for (long i = 2 * ::sysconf(_SC_NPROCESSORS_ONLN); i > 0; --i) {
      const fs::path own = folder / ("busy " + std::to_string(i));
      fs::create_directories(own);
      programs_.push_back(std::make_unique<Process>(own, Args{"sh", "-c", "while :; do :; done"}));
    }
  }

 private:
  std::vector<std::unique_ptr<Process>> programs_;  // killed as it ends
};

TEST_F(PlanTrap, APeakThatWasMeasuredOnABusyMachineIsDoubted) {
  const BusyMachine busy(root_);
  const Outcome run = ingot(train_args("run", {"system.device=cpu"}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "(doubtful: other processes had ")) << run.err;
  EXPECT_TRUE(contains(run.err, " % of measured (doubtful: busy machine)")) << run.err;
  const Outcome bench = ingot({"bench", "train", "--preset", "llama_test", "--device", "cpu",
                               "--seq", "16", "--batch", "1", "--steps", "1", "--json"});
  ASSERT_EQ(bench.code, 0) << bench.err;
  EXPECT_EQ(result_of(bench).value("peak_doubtful", false), true) << bench.out;
  EXPECT_GT(result_of(bench).value("peak_busy", 0.0), 0.05) << bench.out;
}

TEST_F(PlanTrap, ThreadsBeyondTheCoresDoNotRaiseThePeak) {
  const auto peak = [&](long threads) {
    const Outcome bench =
        ingot({"bench", "train", "--preset", "llama_test", "--device", "cpu", "--seq", "16",
               "--batch", "1", "--steps", "1", "--threads", std::to_string(threads), "--json"});
    EXPECT_EQ(bench.code, 0) << bench.err;
    return result_of(bench).value("peak_flops", 0.0);
  };
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  EXPECT_LT(peak(16 * cores), 4 * peak(cores));
}

TEST_F(PlanTrap, AGpuIsNotPlannedForWhereTheSettingsSayTheCpu) {
  const Args cpu = {"preset=llama_test", "batch.seq=64", "system.device=cpu"};
  const Outcome refused = memory(cpu, "h100");
  EXPECT_EQ(refused.code, 2) << refused.out;
  for (const char* part : {"--gpu h100", "system.device = cpu", "--set system.device=auto"})
    EXPECT_TRUE(contains(refused.err, part)) << refused.err;
  for (const char* device : {"auto", "cuda"})
    EXPECT_EQ(memory({"preset=llama_test", "batch.seq=64", std::string("system.device=") + device},
                     "h100")
                  .code,
              0);
}

TEST_F(PlanTrap, NcclIsNotPassedOverInARunOnTheCpu) {
  const Args nccl = {"system.device=cpu", "system.backend=nccl"};
  for (const Args& command :
       {train_args("run", nccl), with(train_args("run", nccl), {"--dry-run"}),
        with({"smoke", "-n", "1"}, sets_of(nccl)), with({"bench", "train"}, sets_of(nccl))}) {
    const Outcome refused = ingot(command);
    EXPECT_NE(refused.code, 0) << command[0] << refused.out;
    EXPECT_TRUE(contains(refused.err + refused.out, "system.backend=auto")) << refused.err;
  }
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(PlanTrap, AnOptionThatContradictsASetIsRefused) {
  const Args small = {"--preset", "llama_test", "--device", "cpu", "--steps", "1"};
  const auto bench = [&](const Args& more) {
    return ingot(with(with({"bench", "train"}, small), more));
  };
  const Outcome refused = bench({"--batch", "1", "--seq", "16", "--set", "batch.micro_batch=2"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_TRUE(contains(refused.err, "--batch 1 and --set batch.micro_batch=2")) << refused.err;
  for (const char* set : {"preset=llama_10m", "system.device=cuda"})
    EXPECT_EQ(bench({"--seq", "16", "--set", set}).code, 2) << set;
  EXPECT_EQ(ingot({"probe", "-n", "2", "--set", "system.ranks=1"}).code, 2);
  EXPECT_EQ(ingot({"smoke", "--steps", "4", "--set", "train.steps=5"}).code, 2);
  const Outcome presets = ingot({"data", "clean", path("text.txt"), "--out", path("out"),
                                 "--preset", "datatrove-0.10", "--set", "preset=fineweb-v1"});
  EXPECT_TRUE(contains(presets.err, "and --set preset=fineweb-v1: leave")) << presets.err;
  // Defaults contradict nothing, and the same twice is no contradiction.
  EXPECT_EQ(bench({"--batch", "1", "--set", "batch.seq=16", "--set", "batch.micro_batch=1"}).code,
            0);
}

TEST_F(PlanTrap, OfASettingThatIsGivenTwiceTheOneThatIsNotUsedIsNamed) {
  const auto show = [&](const Args& sets) {
    return ingot(with({"config", "show", path("recipe.toml")}, sets_of(sets)));
  };
  const Outcome twice = show({"optim.lr=1e-3", "batch.seq=32", "optim.lr=2e-3"});
  EXPECT_TRUE(contains(twice.err, "setting=optim.lr used=2e-3 ignored=1e-3")) << twice.err;
  EXPECT_FALSE(contains(show({"optim.lr=1e-3", "optim.lr=1e-3"}).err, "ignored")) << twice.err;
}

}  // namespace
}  // namespace ingot::test
