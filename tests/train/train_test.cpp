#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/error/error.h"
#include "parallel/comm/world.h"
#include "support/ledger_contents.h"
#include "support/train_fixture.h"
#include "train/start/resume.h"
#include "train/step/engine.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using test::Recorder;
using test::run;

class Train : public test::TrainFixture {};

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Train, LearnsARegularText) {
  Recorder recorder;
  const TrainResult result = run(config("run", 150, {{"batch.tokens", "256"}}), recorder);
  EXPECT_NEAR(recorder.losses[1], std::log(257.0), 0.2);
  EXPECT_LT(result.train_loss, 2.5);
  ASSERT_TRUE(result.eval && result.eval->bits_per_byte);
  EXPECT_NEAR(*result.eval->bits_per_byte, result.eval->loss / std::log(2.0), 0.05);
}

TEST_F(Train, MuonLearnsItInFewerSteps) {
  Recorder recorder;
  const double adamw = run(config("adamw", 60), recorder).train_loss;
  EXPECT_LT(run(config("muon", 60, {{"optim.kind", "muon"}}), recorder).train_loss, adamw - 0.1);
}

TEST_F(Train, MuonAndFp8OnTwoRanksGiveOneRanksLosses) {
  const std::tuple<std::string, Overrides, double> kinds[] = {
      {"muon", {{"optim.kind", "muon"}}, 1e-5}, {"fp8", {{"train.precision", "fp8"}}, 1e-3}};
  for (const auto& [name, more, tolerance] : kinds) {
    Recorder one;
    run(config(name + "_one", 6, more), one);
    for (const std::string kind : {"replicated", "fully_sharded"}) {
      Recorder two;
      Overrides on_two = more;
      on_two.insert(
          on_two.end(),
          {{"system.ranks", "2"}, {"batch.micro_batch", "1"}, {"system.data_parallel", kind}});
      run(config(name + "_" + kind, 6, on_two), two);
      for (const auto& [step, loss] : one.losses)
        EXPECT_NEAR(two.losses[step] / loss, 1.0, tolerance) << name << ", step " << step;
    }
  }
}

TEST_F(Train, StoppedAndResumedEqualsUndisturbedBitForBit) {
  const std::pair<std::string, Overrides> kinds[] = {
      {"fp64", {{"train.precision", "fp64"}}},
      {"fp64_muon", {{"train.precision", "fp64"}, {"optim.kind", "muon"}}},
      {"fp32", {{"train.precision", "fp32"}}},
      {"bf16", {{"train.precision", "bf16"}}},
      {"fp8", {{"train.precision", "fp8"}}},
      {"moments", {{"optim.moments", "bf16"}}},
      {"one_micro_step", {{"batch.tokens", "32"}}},
      {"muon", {{"optim.kind", "muon"}}},
      {"muon_sharded",
       {{"optim.kind", "muon"}, {"system.ranks", "2"}, {"system.data_parallel", "fully_sharded"}}},
      {"fp8_ranks", {{"train.precision", "fp8"}, {"system.ranks", "2"}}}};
  for (const auto& [name, more] : kinds) {
    Recorder whole;
    run(config(name + "_whole", 12, more), whole);
    const RunConfig parts = config(name + "_parts", 12, more);
    Recorder pieces;
    for (const int64_t stop : {3, 6, 9, 0}) {  // takes effect a step later
      pieces.stop = false;
      pieces.stop_after = stop;
      EXPECT_EQ(run(parts, pieces, /*resume=*/true).stopped, stop != 0);
    }
    EXPECT_EQ(pieces.losses, whole.losses);
  }
}

TEST_F(Train, WhatIsRebuiltMayChangeOnResume) {
  Recorder whole, parts;
  run(config("whole", 6), whole);
  parts.stop_after = 3;
  EXPECT_TRUE(run(config("parts", 6), parts).stopped);
  parts.stop = false;
  parts.stop_after = 0;
  run(config("parts", 6, {{"train.recompute", "full"}, {"train.keep_layers", "1"}}), parts,
      /*resume=*/true);
  EXPECT_EQ(parts.losses, whole.losses);
}

TEST_F(Train, AnOptimizerMayMoveToHostMemoryOnResumeAndBack) {
  for (const std::string precision : {"fp32", "bf16"}) {
    const std::pair<std::string, std::string> same = {"train.precision", precision};
    Recorder whole, parts;
    run(config("whole_" + precision, 6, {same}), whole);
    const std::string name = "parts_" + precision;
    for (const int64_t stop : {2, 4, 0}) {
      parts.stop = false;
      parts.stop_after = stop;
      run(config(name, 6, {same, {"system.offload_optimizer", stop == 4 ? "true" : "false"}}),
          parts, /*resume=*/true);
    }
    EXPECT_EQ(parts.losses, whole.losses);
  }
}

TEST_F(Train, ResumesOnAnotherNumberOfRanksWithTheSameSamples) {
  Recorder one;
  run(config("one", 10), one);
  Recorder changing;
  changing.stop_after = 3;
  run(config("changing", 10, {{"system.ranks", "4"}, {"batch.micro_batch", "1"}}), changing);
  changing.stop = false, changing.stop_after = 6;
  run(config("changing", 10, {{"system.ranks", "2"}, {"system.data_parallel", "fully_sharded"}}),
      changing, true);
  changing.stop = false, changing.stop_after = 0;
  run(config("changing", 10), changing, true);
  ASSERT_EQ(changing.losses.size(), one.losses.size());
  for (const auto& [step, loss] : one.losses)
    EXPECT_NEAR(changing.losses[step] / loss, 1.0, 1e-6) << "step " << step;
}

TEST_F(Train, LocalRanksGiveOneRanksLosses) {
  Recorder one;
  run(config("one", 6), one);
  for (const char* mode : {"replicated", "zero1", "zero2", "fully_sharded"})
    for (const char* ranks : {"2", "4"}) {
      Recorder many;
      run(config(std::string(mode) + ranks, 6,
                 {{"system.ranks", ranks},
                  {"system.data_parallel", mode},
                  {"batch.micro_batch", "1"}}),
          many);
      for (const auto& [step, loss] : one.losses)
        EXPECT_NEAR(many.losses[step] / loss, 1.0, 1e-6)
            << ranks << " " << mode << " step " << step;
    }
}

TEST_F(Train, Bf16MomentsLearnLikeFp32OnesOnAnyNumberOfRanks) {
  Recorder wide, narrow;
  run(config("wide", 40), wide);
  run(config("narrow", 40, {{"optim.moments", "bf16"}}), narrow);
  EXPECT_NE(narrow.losses[10], wide.losses[10]);
  EXPECT_NEAR(narrow.losses[40] / wide.losses[40], 1.0, 1e-2);
  Recorder one;
  run(config("one", 6, {{"optim.moments", "bf16"}}), one);
  for (const char* ranks : {"2", "4"}) {
    Recorder many;
    run(config(std::string("ranks") + ranks, 6,
               {{"optim.moments", "bf16"},
                {"system.ranks", ranks},
                {"system.data_parallel", "fully_sharded"},
                {"batch.micro_batch", "1"}}),
        many);
    // Sums in another order move a moment by less than it is rounded by, and so at times to the
    // other neighbour.
    for (const auto& [step, loss] : one.losses)
      EXPECT_NEAR(many.losses[step] / loss, 1.0, 1e-5) << ranks << " step " << step;
  }
}

TEST_F(Train, Fp64LossesAreFp32sBeforeItRounds) {
  for (const std::string kind : {"adamw", "muon"}) {
    Recorder wide, narrow;
    run(config(kind + "64", 20, {{"train.precision", "fp64"}, {"optim.kind", kind}}), wide);
    run(config(kind + "32", 20, {{"train.precision", "fp32"}, {"optim.kind", kind}}), narrow);
    EXPECT_NEAR(narrow.losses[1] / wide.losses[1], 1.0, 1e-6);
    for (const auto& [step, loss] : wide.losses)
      EXPECT_NEAR(narrow.losses[step] / loss, 1.0, 1e-4) << kind << " step " << step;
  }
}

// Ranks add in another order, which in F64 is all but nothing: what a run's equivalence on other
// layouts is judged by.
TEST_F(Train, LocalRanksInFp64GiveOneRanksLossesWithin1e10) {
  const Overrides fp64 = {
      {"train.precision", "fp64"}, {"batch.tokens", "192"}, {"train.eval_every", "10"}};
  const auto run_on = [&](const std::string& ranks, const std::string& mode, bool accumulates) {
    Overrides more = fp64;
    more.push_back({"system.ranks", ranks});
    more.push_back({"system.data_parallel", mode});
    more.push_back(
        {"batch.micro_batch", accumulates ? "1" : std::to_string(192 / 16 / std::stoi(ranks))});
    Recorder recorder;
    run(config(ranks + mode + (accumulates ? "_parts" : ""), 20, more), recorder);
    return recorder.losses;
  };
  const std::map<int64_t, double> one = run_on("1", "replicated", true);
  ASSERT_EQ(one.size(), 20u);
  for (const char* mode : {"replicated", "fully_sharded"})
    for (const char* ranks : {"2", "3"})
      for (const bool accumulates : {true, false})
        for (const auto& [step, loss] : run_on(ranks, mode, accumulates))
          EXPECT_NEAR(loss / one.at(step), 1.0, 1e-10)
              << ranks << " " << mode << (accumulates ? " accumulated" : "") << " step " << step;
}

TEST_F(Train, Fp64IsRefusedOnAGpuBeforeItIsTouched) {
  const RunConfig wanted =
      config("run", 2, {{"train.precision", "fp64"}, {"system.device", "cuda"}});
  EXPECT_EQ(message_of([&] { resolve_elsewhere(wanted, *known_gpu("h200"), 1); }),
            "train.precision fp64 is for runs on the CPU and this one is on a GPU: use the CPU "
            "(--device cpu, or --set system.device=cpu) or fp32");
}

TEST_F(Train, PrecisionsThatNeedAGpuAreRefusedOnTheCpu) {
  Recorder recorder;
  for (const std::string precision : {"tf32", "fp16"})
    EXPECT_EQ(message_of([&] {
                run(config(precision, 2, {{"train.precision", precision}}), recorder);
              }),
              "train.precision " + precision +
                  " needs a GPU and this run is on the CPU: use fp32 or bf16");
}

TEST_F(Train, LedgerAccountsForEverySampleOnceAcrossResumes) {
  Recorder recorder;
  recorder.stop_after = 4;
  run(config("run", 9), recorder);
  recorder.stop = false, recorder.stop_after = 0;
  run(config("run", 9), recorder, true);
  int64_t expected = 0;
  const auto contents =
      test::read_ledger(*posix_storage(), (root_ / "run" / "ledger.jsonl").string());
  for (const auto& record : contents.records)
    if (record.at("kind") == "step") {
      EXPECT_EQ(record.at("samples").at(0).get<int64_t>(), expected);
      expected = record.at("samples").at(1).get<int64_t>();
    }
  EXPECT_EQ(expected, 9 * 128 / 16);
}

TEST_F(Train, LedgerSaysWhatARunComputedOn) {
  Recorder recorder;
  run(config("run", 2), recorder);
  const auto start = test::read_ledger(*posix_storage(), (root_ / "run" / "ledger.jsonl").string())
                         .records.front();
  EXPECT_EQ(start.at("device"), "cpu");
  EXPECT_EQ(start.at("precision"), "fp32");
}

TEST_F(Train, StopsAtTheTokenCountWithABatchRamp) {
  Recorder recorder;
  RunConfig ramped = config("run", 0,
                            {{"train.total_tokens", "1000"},
                             {"batch.ramp_start_tokens", "32"},
                             {"batch.ramp_tokens", "500"}});
  const TrainResult result = run(ramped, recorder);
  EXPECT_GE(result.state.tokens, 1000);
  EXPECT_LT(result.state.tokens, 1000 + 128);
  EXPECT_GT(result.state.step, 1000 / 128 + 1);  // small batches at the start mean more steps
}

TEST_F(Train, ResidentMemoryIsFlatOver2000Steps) {
#ifdef INGOT_SANITIZED
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  Recorder recorder;
  run(config("run", 2000, {{"batch.tokens", "32"}, {"checkpoint.every", "100"}}), recorder);
  // From after the first saves, whose buffers the allocator keeps; the recorder itself adds 100 kB.
  const int64_t early = recorder.resident[500], late = recorder.resident[2000];
  EXPECT_LT(late - early, 512 * 1024) << early << " bytes at step 500, " << late << " at 2000";
}

TEST_F(Train, RefusesToTrainOverARunThatIsThere) {
  Recorder recorder;
  run(config("run", 2), recorder);
  const auto message = message_of([&] { run(config("run", 2), recorder); });
  EXPECT_NE(message.find("--resume"), std::string::npos) << message;
}

TEST_F(Train, RefusesToResumeWithSettingsThatDefineAnotherRun) {
  Recorder recorder;
  run(config("run", 2), recorder);
  const auto message = message_of([&] {
    run(config("run", 4, {{"optim.lr", "0.5"}}), recorder, true);
  });
  EXPECT_NE(message.find("optim.lr"), std::string::npos) << message;
}

TEST_F(Train, ThePrecisionThatAutoMeantMayNotChangeOnResume) {
  Recorder recorder;
  const auto with = [&](int64_t steps, const char* precision) {
    return config("run", steps,
                  {{"train.precision", precision}, {"optim.schedule.kind", "constant"}});
  };
  run(with(2, "auto"), recorder);
  const auto message = message_of([&] { run(with(4, "bf16"), recorder, true); });
  EXPECT_NE(message.find("train.precision (was fp32, is bf16)"), std::string::npos) << message;
  EXPECT_EQ(run(with(4, "fp32"), recorder, true).state.step, 4);
  EXPECT_EQ(run(with(6, "auto"), recorder, true).state.step, 6);
}

TEST_F(Train, AutoInAnOldCheckpointIsWhatItMeansHere) {
  const RunConfig old = config("run", 2, {{"train.precision", "auto"}});
  const auto world = single_world();
  Engine engine(resolve_here(old), *world);
  engine.init(1);
  const std::string saved = save_checkpoint(*posix_storage(), world->control(), old.checkpoint.dir,
                                            old, {}, engine.parameters(), engine.store(), {});
  const auto resume_point = [&](const char* precision) {
    const RunConfig wanted = config("run", 2, {{"train.precision", precision}});
    return find_resume_point(posix_storage(), resolve_here(wanted), /*resume=*/true)->info().dir;
  };
  EXPECT_EQ(resume_point("fp32"), saved);
  EXPECT_THROW(resume_point("bf16"), Error);
}

TEST_F(Train, GoesOnToMoreStepsThanFirstPlanned) {
  Recorder recorder;
  run(config("run", 2, {{"optim.schedule.kind", "constant"}}), recorder);
  const auto result = run(config("run", 4, {{"optim.schedule.kind", "constant"}}), recorder, true);
  EXPECT_EQ(result.state.step, 4);
}

TEST_F(Train, ResumesFromTheOlderCheckpointWhenTheNewestIsDamaged) {
  Recorder recorder;
  run(config("run", 4, {{"checkpoint.every", "2"}}), recorder);
  const auto dirs = list_checkpoints(*posix_storage(), (root_ / "run").string());
  ASSERT_EQ(dirs.size(), 2u);
  std::fstream file(fs::path(dirs[1]) / "rank_0.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-3, std::ios::end);
  file.put('\x7f');
  file.close();
  Recorder again;
  run(config("run", 4, {{"checkpoint.every", "2"}}), again, true);
  EXPECT_EQ(again.losses.begin()->first, 3);
  EXPECT_EQ(again.losses[4], recorder.losses[4]);
}

TEST_F(Train, SaysWhatToDoWhenItDoesNotFit) {
  Recorder recorder;
  const auto refusal = [&](Overrides size) {
    return message_of([&] { run(config("run", 2, std::move(size)), recorder); });
  };
  const auto large = refusal({{"preset", "llama3_70b"}, {"model.vocab", "128256"}});
  EXPECT_NE(large.find("smaller model"), std::string::npos) << large;
  const auto wide = refusal({{"batch.micro_batch", "65536"},
                             {"batch.seq", "64"},
                             {"batch.tokens", "0"},
                             {"preset", "llama_10m"}});
  EXPECT_NE(wide.find("--set batch.micro_batch="), std::string::npos) << wide;
}

TEST_F(Train, AStepPlannedAsOneMicroStepRefusesASecond) {
  const std::vector<int32_t> tokens(2 * 16, 7);  // B · T
  const MicroBatch batch{tokens.data(), tokens.data(), nullptr};
  const auto world = single_world();
  for (const auto& [planned, fits] : {std::pair{"0", 1}, std::pair{"32", 1}, std::pair{"64", 2}}) {
    Engine engine(resolve_here(config("run", 2, {{"batch.tokens", planned}})), *world);
    engine.init(1);
    for (int step = 0; step < 2; ++step) {
      engine.start_step();
      for (int micro = 0; micro < fits; ++micro)
        engine.accumulate(batch, 1.0 / 32, micro + 1 == fits);
    }
    const std::string refusal = message_of([&] { engine.accumulate(batch, 1.0 / 32, true); });
    EXPECT_EQ(refusal.find("planned as one") != std::string::npos, fits == 1) << refusal;
  }
}

TEST_F(Train, AStepThatWasGivenUpLeavesNothingInTheNextOnesLoss) {
  const std::vector<int32_t> tokens(2 * 16, 7), others(2 * 16, 9);  // B · T
  const auto world = single_world();
  Engine engine(resolve_here(config("run", 2, {{"batch.tokens", "64"}})), *world);
  engine.init(1);
  const auto accumulate = [&](const std::vector<int32_t>& ids) {
    engine.start_step();
    engine.accumulate({ids.data(), ids.data(), nullptr}, 1.0 / 32, true);
  };
  accumulate(tokens);
  const double alone = engine.take_loss();
  EXPECT_GT(alone, 0.0);
  accumulate(others);
  accumulate(tokens);
  EXPECT_EQ(engine.take_loss(), alone);
}

// Stop is asked for while a checkpoint is being saved: what was saved is the newest there is.
struct StopAtSave : Recorder {
  void take(const RunRecord& record) override {
    if (std::holds_alternative<SavedReport>(record)) stop = true;
  }
};

TEST_F(Train, AStopDuringASaveNeedsNoFurtherStep) {
  for (const std::string ranks : {"1", "2"}) {
    StopAtSave recorder;
    const TrainResult result = run(
        config("run" + ranks, 6, {{"checkpoint.every", "2"}, {"system.ranks", ranks}}), recorder);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.state.step, 2);
  }
}

struct SaveAt : Recorder {
  std::atomic<bool> save{false};
  std::vector<std::string> saved;
  void take(const RunRecord& record) override {
    if (const auto* report = std::get_if<StepReport>(&record); report && report->step == 2)
      save = true;
    if (const auto* report = std::get_if<SavedReport>(&record)) saved.push_back(report->dir);
  }
};

TEST_F(Train, ASaveThatIsAskedForIsMadeAndTheRunGoesOn) {
  for (const std::string ranks : {"1", "2"}) {
    SaveAt recorder;
    TrainOptions options;
    options.sinks = {&recorder};
    options.save = &recorder.save;
    const TrainResult result =
        test::train_locally(config("run" + ranks, 6, {{"system.ranks", ranks}}), options);
    EXPECT_FALSE(result.stopped);
    EXPECT_FALSE(recorder.save);
    EXPECT_EQ(recorder.saved.size(), 2u);  // after step 3, and at the end
    EXPECT_TRUE(recorder.saved[0].ends_with("step_00000003"));
  }
}

}  // namespace
}  // namespace ingot
