#include "plan/advice.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/fit.h"
#include "plan/resolve.h"

namespace ingot {
namespace {

Overrides overrides_of(const MemoryChange& change) {
  Overrides overrides;
  for (const std::string& setting : change.settings) {
    const size_t equals = setting.find('=');
    overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return overrides;
}

struct Case {
  Overrides overrides;
  const char* gpu = nullptr;  // null: on the CPU

  ResolvedRun run(const Overrides& more = {}) const {
    Overrides all = overrides;
    all.insert(all.end(), more.begin(), more.end());
    const DeviceFacts facts = gpu != nullptr ? known_gpu(gpu).value() : DeviceFacts{};
    return resolve_elsewhere(ValidConfig::open_ended(parse_run_config("", "test", all)), facts, 1);
  }
  int64_t needed(const Overrides& more = {}) const { return fit_memory(run(more), 0).needed_bytes; }
  // With so much free of what it needs.
  MemoryAdvice at(double share, bool resumed = false) const {
    return memory_advice(run(), static_cast<int64_t>(share * static_cast<double>(needed())),
                         resumed);
  }
};

const MemoryChange* change_of(const MemoryAdvice& advice, const std::string& setting) {
  const auto found = std::ranges::find_if(advice.single, [&](const MemoryChange& change) {
    return std::ranges::any_of(change.settings,
                               [&](const std::string& one) { return one.starts_with(setting); });
  });
  return found == advice.single.end() ? nullptr : &*found;
}

bool fits(const MemoryAdvice& advice, const std::string& setting) {
  const MemoryChange* change = change_of(advice, setting);
  return change != nullptr && change->fits;
}

// The rule of all advice: the same settings, given to a run, take what it says.
void expect_true(const Case& one, const MemoryAdvice& advice) {
  for (const auto* changes : {&advice.single, &advice.together})
    for (const MemoryChange& change : *changes) {
      EXPECT_EQ(one.needed(overrides_of(change)), change.needed_bytes) << change.settings[0];
      EXPECT_EQ(one.needed() - change.gives_bytes, change.needed_bytes);
      EXPECT_EQ(change.fits, change.needed_bytes <= advice.available_bytes);
      EXPECT_GT(change.gives_bytes, 0);
    }
}

TEST(Advice, IsWhatARunWithThoseSettingsTakes) {
  const Case cases[] = {
      {{{"batch.micro_batch", "64"}}},
      {{{"batch.micro_batch", "512"}, {"batch.tokens", "262144"}}},
      {{{"batch.micro_batch", "32"}, {"system.ranks", "4"}}},
      {{{"preset", "llama_1b"}, {"batch.seq", "2048"}, {"train.recompute", "none"}}, "rtx4090"},
      {{{"preset", "llama_7b"}, {"system.ranks", "8"}, {"train.keep_layers", "4"}}, "h100"}};
  for (const Case& one : cases)
    for (const double share : {0.9, 0.6, 0.3}) {
      const MemoryAdvice advice = one.at(share);
      EXPECT_FALSE(advice.single.empty());
      expect_true(one, advice);
    }
}

TEST(Advice, NamesTheMildestValueThatFits) {
  const Case one = {{{"batch.micro_batch", "64"}}};
  const MemoryAdvice advice = one.at(0.5);
  const MemoryChange* batch = change_of(advice, "batch.micro_batch=");
  ASSERT_TRUE(batch != nullptr && batch->fits);
  const int64_t B = std::stoll(batch->settings[0].substr(18));
  EXPECT_GT(one.needed({{"batch.micro_batch", std::to_string(B + 1)}}), advice.available_bytes);
}

// Steps of batch.tokens must be made of it.
TEST(Advice, MicroBatchesDivideTheStep) {
  const Case one = {{{"batch.micro_batch", "512"}, {"batch.tokens", std::to_string(512 * 512)}}};
  const MemoryAdvice advice = one.at(0.2);
  ASSERT_TRUE(fits(advice, "batch.micro_batch="));
  const MemoryChange* batch = change_of(advice, "batch.micro_batch=");
  EXPECT_EQ(512 % std::stoll(batch->settings[0].substr(18)), 0);
}

TEST(Advice, KeepingNoLayersComesFirst) {
  const Case one = {{{"batch.micro_batch", "256"},
                     {"batch.seq", "64"},
                     {"train.recompute", "full"},
                     {"train.keep_layers", "8"}}};
  const MemoryAdvice advice = one.at(0.8);
  EXPECT_EQ(advice.single.at(0).settings, std::vector<std::string>{"train.keep_layers=0"});
  EXPECT_TRUE(advice.single.at(0).fits);
}

TEST(Advice, SharingIsOverTheRanksThereAre) {
  const Overrides large = {
      {"preset", "debug_120m"}, {"batch.micro_batch", "1"}, {"batch.seq", "64"}};
  const Case alone = {large};
  EXPECT_EQ(change_of(alone.at(0.5), "system.data_parallel"), nullptr);
  Overrides four = large;
  four.emplace_back("system.ranks", "4");
  EXPECT_TRUE(fits(Case{four}.at(0.6), "system.data_parallel=fully_sharded"));
}

// Seven billion parameters with AdamW are 112 GB: neither sequences nor micro-batches help.
TEST(Advice, WhereOnlyOffloadOrMoreGpusFitThatIsWhatItSays) {
  const Case one = {{{"preset", "llama_7b"}, {"batch.micro_batch", "1"}}, "h100"};
  const MemoryAdvice advice =
      memory_advice(one.run(), one.run().place.facts.memory_bytes - kCudaReserveBytes, false);
  EXPECT_FALSE(fits(advice, "batch.seq="));
  EXPECT_TRUE(fits(advice, "system.offload_optimizer=true"));
  EXPECT_GT(change_of(advice, "system.offload_optimizer=true")->host_bytes, int64_t{40} << 30);
  EXPECT_TRUE(fits(advice, "system.ranks=2"));
  const std::string sentence = sentence_of(advice);
  EXPECT_TRUE(sentence.starts_with("it fits with --set ")) << sentence;
  EXPECT_EQ(sentence.find("batch.seq"), std::string::npos) << sentence;
}

TEST(Advice, CombinesWhereNoSingleChangeIsEnough) {
  const Case one = {{{"preset", "llama_7b"},
                     {"batch.seq", "2048"},
                     {"batch.micro_batch", "8"},
                     {"train.recompute", "none"}},
                    "a6000"};
  const MemoryAdvice advice = memory_advice(one.run(), int64_t{50} << 30, false);
  ASSERT_TRUE(std::ranges::none_of(advice.single, &MemoryChange::fits));
  ASSERT_FALSE(advice.together.empty());
  expect_true(one, advice);
  for (const MemoryChange& change : advice.together) {
    EXPECT_TRUE(change.fits);
    EXPECT_GT(change.settings.size(), 1u);
    // With what is there, as long as that is enough.
    for (const std::string& setting : change.settings)
      EXPECT_FALSE(setting.starts_with("system.ranks="));
  }
  EXPECT_NE(sentence_of(advice).find("no single change of settings is enough; it fits with"),
            std::string::npos);
}

TEST(Advice, AsksForMoreGpusThanAMachineHasWhereNothingElseIsEnough) {
  const Case one = {{{"preset", "llama3_70b"}, {"batch.micro_batch", "1"}}, "a100"};
  const MemoryAdvice advice = memory_advice(one.run(), int64_t{40} << 30, false);
  EXPECT_TRUE(fits(advice, "system.ranks="));
  const std::string ranks = change_of(advice, "system.ranks=")->settings[0].substr(13);
  EXPECT_GT(std::stoll(ranks), 8);
}

TEST(Advice, SaysWhereNothingIsEnough) {
  const Case one = {{{"preset", "llama_1b"}, {"batch.micro_batch", "1"}}};
  const MemoryAdvice advice = memory_advice(one.run(), int64_t{1} << 20, false);
  EXPECT_TRUE(advice.together.empty());
  EXPECT_GT(advice.least_bytes, advice.available_bytes);
  EXPECT_NE(sentence_of(advice).find("choose a smaller model"), std::string::npos);
}

// What a resume may change, and a smaller micro-batch with the batch it had.
TEST(Advice, AResumedRunHearsOfWhatAResumeMayChange) {
  const Case one = {{{"batch.micro_batch", "64"}}};
  const MemoryAdvice advice = one.at(0.5, /*resumed=*/true);
  for (const char* fixed : {"optim.moments", "train.precision", "batch.seq"})
    EXPECT_EQ(change_of(advice, fixed), nullptr) << fixed;
  const MemoryChange* batch = change_of(advice, "batch.micro_batch=");
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->settings.back(), "batch.tokens=" + std::to_string(64 * 512));
  EXPECT_EQ(64 % std::stoll(batch->settings[0].substr(18)), 0);
  EXPECT_NE(sentence_of(memory_advice(one.run(), 1, true)).find("resume where more memory is free"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
