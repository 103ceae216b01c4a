#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/error.h"
#include "core/memory_info.h"
#include "ledger/ledger.h"
#include "parallel/comm/world.h"
#include "support/train_fixture.h"
#include "train/engine.h"
#include "train/resume.h"

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

TEST_F(Train, MuonOnTwoRanksGivesOneRanksLosses) {
  Recorder one, two;
  run(config("one", 6, {{"optim.kind", "muon"}}), one);
  run(config("two", 6, {{"optim.kind", "muon"}, {"system.ranks", "2"}, {"batch.micro_batch", "1"}}),
      two);
  for (const auto& [step, loss] : one.losses)
    EXPECT_NEAR(two.losses[step] / loss, 1.0, 1e-5) << "step " << step;
}

TEST_F(Train, StoppedAndResumedEqualsUndisturbedBitForBit) {
  const std::pair<std::string, Overrides> kinds[] = {
      {"fp32", {{"train.precision", "fp32"}}},      {"bf16", {{"train.precision", "bf16"}}},
      {"fp8", {{"train.precision", "fp8"}}},        {"moments", {{"optim.moments", "bf16"}}},
      {"one_micro_step", {{"batch.tokens", "32"}}}, {"muon", {{"optim.kind", "muon"}}}};
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
  for (const char* mode : {"replicated", "fully_sharded"})
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

TEST_F(Train, PrecisionsThatNeedAGpuAreRefusedOnTheCpu) {
  Recorder recorder;
  for (const std::string precision : {"tf32", "fp16"})
    EXPECT_EQ(message_of([&] {
                run(config(precision, 2, {{"train.precision", precision}}), recorder);
              }),
              "train.precision " + precision +
                  " needs a GPU and this run is on the CPU: use fp32 or bf16");
}

TEST_F(Train, WhatThePrecisionNeedsIsAskedOfAGpuThatIsThereOnly) {
  const std::string refusal = message_of([&] {
    run_device(config("run", 2, {{"train.precision", "fp8"}, {"system.device", "cuda"}}));
  });
  EXPECT_TRUE(refusal.empty() || refusal.find("compute capability") != std::string::npos)
      << refusal;
}

TEST_F(Train, HeadsTooWideForAGpuAreRefusedBeforeItIsTouched) {
  const auto device = [&](const char* kind) {
    return run_device(config("run", 2, {{"model.head_dim", "512"}, {"system.device", kind}}));
  };
  EXPECT_EQ(device("cpu"), Device::cpu());
  const std::string refusal = message_of([&] { device("cuda"); });
  EXPECT_NE(refusal.find("model.head_dim 512"), std::string::npos) << refusal;
}

TEST_F(Train, LedgerAccountsForEverySampleOnceAcrossResumes) {
  Recorder recorder;
  recorder.stop_after = 4;
  run(config("run", 9), recorder);
  recorder.stop = false, recorder.stop_after = 0;
  run(config("run", 9), recorder, true);
  int64_t expected = 0;
  const auto contents = read_ledger(*posix_storage(), (root_ / "run" / "ledger.jsonl").string());
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
  const auto start =
      read_ledger(*posix_storage(), (root_ / "run" / "ledger.jsonl").string()).records.front();
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
  Engine engine(old, *world, 1);
  engine.init(1);
  const std::string saved = save_checkpoint(*posix_storage(), world->control(), old.checkpoint.dir,
                                            old, {}, engine.parameters(), engine.store(), "");
  const auto resume_point = [&](const char* precision) {
    return find_resume_point(posix_storage(), config("run", 2, {{"train.precision", precision}}),
                             /*resume=*/true);
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
  EXPECT_NE(wide.find("batch.micro_batch ="), std::string::npos) << wide;
}

// The bytes that a run on the CPU takes, as a share of what is free.
double share_of_free_memory(const RunConfig& config) {
  ThreadPool pool(1);
  Context ctx;
  ctx.pool = &pool;
  return static_cast<double>(plan_memory(train_table(ctx, config)).total_bytes) /
         static_cast<double>(available_memory_bytes());
}

// A batch that takes 1.2 times what is free with every layer kept, and much less without.
TEST_F(Train, SaysThatKeepingNoLayersWouldFit) {
  RunConfig c = config("run", 2,
                       {{"preset", "llama_10m"},
                        {"batch.seq", "64"},
                        {"batch.tokens", "0"},
                        {"train.recompute", "full"},
                        {"train.keep_layers", "8"}});
  for (c.batch.micro_batch = 64; share_of_free_memory(c) < 1.2;)
    c.batch.micro_batch += c.batch.micro_batch / 16;
  Recorder recorder;
  const std::string refusal = message_of([&] { run(c, recorder); });
  EXPECT_NE(refusal.find(fmt::format("batch.micro_batch = {} with train.keep_layers = 0 fits",
                                     c.batch.micro_batch)),
            std::string::npos)
      << refusal;
}

// A batch that takes 1.2 times what is free, and much less when whole layers are rebuilt.
TEST_F(Train, SaysThatRebuildingLayersWouldKeepTheBatch) {
  RunConfig c =
      config("run", 2, {{"preset", "llama_10m"}, {"batch.seq", "512"}, {"batch.tokens", "0"}});
  for (c.batch.micro_batch = 16; share_of_free_memory(c) < 1.2;)
    c.batch.micro_batch += c.batch.micro_batch / 16;
  Recorder recorder;
  const std::string refusal = message_of([&] { run(c, recorder); });
  EXPECT_NE(refusal.find(fmt::format("batch.micro_batch = {} with train.recompute = \"full\" fits",
                                     c.batch.micro_batch)),
            std::string::npos)
      << refusal;
}

// A smaller micro-batch alone would make a smaller batch where batch.tokens follows it.
TEST_F(Train, SaysWhatKeepsTheBatchOfAResumedRun) {
  RunConfig c =
      config("run", 2, {{"preset", "llama_10m"}, {"batch.seq", "512"}, {"batch.tokens", "0"}});
  for (c.batch.micro_batch = 16; share_of_free_memory(c) < 1.2;)
    c.batch.micro_batch += c.batch.micro_batch / 16;
  const auto world = single_world();
  const auto refusal = [&](bool resumed) {
    return message_of([&] { Engine(c, *world, 1, resumed); });
  };
  EXPECT_EQ(refusal(false).find("batch.tokens"), std::string::npos) << refusal(false);
  const int64_t B = c.batch.micro_batch;
  EXPECT_NE(refusal(true).find(fmt::format(
                "batch.micro_batch = {} with batch.tokens = {} and train.recompute = \"full\" fits",
                B, B * c.batch.seq)),
            std::string::npos)
      << refusal(true);
}

// A batch too large even then: the largest micro-batches of both ways, such that steps of
// batch.tokens can be made of them.
TEST_F(Train, SaysWhichBatchesFitAsItIsAndRebuildingLayers) {
  RunConfig c = config("run", 2, {{"preset", "llama_10m"}, {"batch.seq", "512"}});
  c.train.recompute = ActivationPolicy::Full;
  for (c.batch.micro_batch = 16; share_of_free_memory(c) < 1.2;) c.batch.micro_batch *= 2;
  c.train.recompute = ActivationPolicy::Selective;
  c.batch.tokens = c.batch.micro_batch * c.batch.seq;
  Recorder recorder;
  const std::string refusal = message_of([&] { run(c, recorder); });
  int as_it_is = 0, rebuilding = 0;
  const auto advice = std::min(refusal.find("batch.micro_batch"), refusal.size());
  ASSERT_EQ(std::sscanf(refusal.c_str() + advice,
                        "batch.micro_batch = %d fits, or %d with train.recompute = \"full\"",
                        &as_it_is, &rebuilding),
            2)
      << refusal;
  EXPECT_LT(as_it_is, rebuilding);
  EXPECT_LT(rebuilding, c.batch.micro_batch);
  for (const int64_t B : {as_it_is, rebuilding})
    EXPECT_EQ(c.batch.tokens % (B * c.batch.seq), 0) << B;
}

TEST_F(Train, AStepPlannedAsOneMicroStepRefusesASecond) {
  const std::vector<int32_t> tokens(2 * 16, 7);  // B · T
  const MicroBatch batch{tokens.data(), tokens.data(), nullptr};
  const auto world = single_world();
  for (const auto& [planned, fits] : {std::pair{"0", 1}, std::pair{"32", 1}, std::pair{"64", 2}}) {
    Engine engine(config("run", 1, {{"batch.tokens", planned}}), *world, 1);
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
  Engine engine(config("run", 1, {{"batch.tokens", "64"}}), *world, 1);
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

// A model whose weights, gradients and moments take 1.14 times what is free in F32, and 0.86 times
// with moments in bf16, which a resume may not change.
TEST_F(Train, SaysThatNarrowMomentsWouldFitButNotToAResume) {
  ModelConfig model = model_preset("debug_120m");
  const auto bytes = [&] { return 16.0 * static_cast<double>(parameter_count(model)); };
  const auto available = static_cast<double>(available_memory_bytes());
  for (model.layers = 1; bytes() < 1.14 * available;) ++model.layers;
  const RunConfig c = config("run", 2,
                             {{"preset", "debug_120m"},
                              {"model.layers", std::to_string(model.layers)},
                              {"batch.micro_batch", "2"},
                              {"batch.seq", "64"},
                              {"batch.tokens", "0"}});
  Recorder recorder;
  const std::string fresh = message_of([&] { run(c, recorder); });
  EXPECT_NE(fresh.find("batch.micro_batch = 2 with optim.moments = \"bf16\" fits"),
            std::string::npos)
      << fresh;
  const auto world = single_world();
  const std::string resumed = message_of([&] { Engine(c, *world, 1, true); });
  EXPECT_NE(resumed.find("not even one sequence fits: go on where more memory is free"),
            std::string::npos)
      << resumed;
}

// Stop is asked for while a checkpoint is being saved: what was saved is the newest there is.
struct StopAtSave : Recorder {
  void on_checkpoint(const std::string&) override { stop = true; }
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
  void on_step(const StepReport& report) override {
    if (report.step == 2) save = true;
  }
  void on_checkpoint(const std::string& dir) override { saved.push_back(dir); }
};

TEST_F(Train, ASaveThatIsAskedForIsMadeAndTheRunGoesOn) {
  for (const std::string ranks : {"1", "2"}) {
    SaveAt recorder;
    TrainOptions options;
    options.observer = &recorder;
    options.save = &recorder.save;
    const TrainResult result =
        train(posix_storage(), config("run" + ranks, 6, {{"system.ranks", ranks}}), options);
    EXPECT_FALSE(result.stopped);
    EXPECT_FALSE(recorder.save);
    EXPECT_EQ(recorder.saved.size(), 2u);  // after step 3, and at the end
    EXPECT_TRUE(recorder.saved[0].ends_with("step_00000003"));
  }
}

}  // namespace
}  // namespace ingot
