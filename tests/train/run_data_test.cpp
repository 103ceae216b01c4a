#include "train/start/run_data.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include "core/error/error.h"
#include "feed/loader.h"
#include "feed/run_steps.h"
#include "ledger/ledger.h"
#include "support/files.h"
#include "support/small_shards.h"
#include "support/train_fixture.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using test::Recorder;
using test::run;

class RunDataTest : public test::TrainFixture {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
    return (root_ / name).string();
  }
  // The text by that weight, the documents by 0.2.
  std::string mixed(const std::string& weight) const {
    return fmt::format(
        "[[source]]\npath = \"{}/text.txt\"\nweight = {}\n[[source]]\npath = "
        "\"{}/documents\"\nweight = 0.2\n",
        root_.string(), weight, root_.string());
  }
  // Several documents of several lengths, and a mixture of them with the fixture's text.
  std::string mixture(const std::string& more = "") const {
    for (int i = 0; i < 40; ++i)
      write("documents/" + std::to_string(100 + i) + ".txt",
            std::string(static_cast<size_t>(20 + 13 * i), static_cast<char>('a' + i % 26)));
    return write("mixture.toml", mixed("0.8") + more);
  }

  // Over all steps that hold: step, then the tokens of its samples as the loader gives them.
  uint64_t order_hash(const std::string& name, const RunConfig& config) const {
    const auto storage = posix_storage();
    const RunSteps steps = read_run_steps(*storage, (root_ / name / "ledger.jsonl").string());
    const RunData data = open_run_data(*storage, config);
    EXPECT_EQ(steps.data->hash(), data.identity.hash());
    const Loader loader(*data.train, false);
    Batch batch;
    uint64_t hash = 0;
    for (const StepRange& range : steps.held)
      for (int64_t i = 0; i < range.num_steps; ++i) {
        loader.fill(range.first_sample + i * range.samples_per_step, range.samples_per_step, batch);
        const int64_t step = range.first_step + i;
        hash = XXH3_64bits_withSeed(&step, sizeof(step), hash);
        hash = XXH3_64bits_withSeed(batch.tokens.data(), batch.tokens.size() * 4, hash);
      }
    return hash;
  }

  std::string refusal(const RunConfig& config, bool resume) const {
    Recorder recorder;
    try {
      run(config, recorder, resume);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Config);
      return error.what();
    }
    return "accepted";
  }
};

Overrides on_ranks(const std::string& ranks, const std::string& data) {
  return {{"system.ranks", ranks}, {"batch.micro_batch", "1"},   {"batch.tokens", "384"},
          {"data.train", data},    {"data.packing", "best_fit"}, {"train.document_mask", "true"}};
}

// 24 samples a step, also at the start of the ramp, so that 1, 2, 3, 4 and 8 ranks can share them.
class StepsOnRanks : public RunDataTest, public ::testing::WithParamInterface<bool> {
 protected:
  static Overrides on_ranks(const std::string& ranks, const std::string& data) {
    Overrides all = ingot::on_ranks(ranks, data);
    if (GetParam()) {
      all.insert(all.end(), {{"batch.tokens", "1920"},
                             {"batch.ramp_start_tokens", "384"},
                             {"batch.ramp_tokens", "6000"}});
    }
    return all;
  }
};

TEST_P(StepsOnRanks, HaveTheSameSamplesForAnyNumberAndAfterResumes) {
  const std::string data = mixture();
  Recorder one;
  const RunConfig whole = config("one", 8, on_ranks("1", data));
  run(whole, one);
  const uint64_t expected = order_hash("one", whole);
  for (const std::string ranks : {"2", "3", "4", "8"}) {
    Recorder many;
    run(config("ranks" + ranks, 8, on_ranks(ranks, data)), many);
    EXPECT_EQ(order_hash("ranks" + ranks, whole), expected) << ranks;
    for (const auto& [step, loss] : one.losses)
      EXPECT_NEAR(many.losses[step] / loss, 1.0, 1e-5) << ranks << " ranks, step " << step;
  }
  Recorder changing;
  const std::vector<std::pair<std::string, int64_t>> parts{{"4", 1}, {"3", 3}, {"8", 5}, {"2", 0}};
  for (const auto& [ranks, stop] : parts) {
    changing.stop = false;
    changing.stop_after = stop;
    run(config("changing", 8, on_ranks(ranks, data)), changing, /*resume=*/true);
  }
  EXPECT_EQ(order_hash("changing", whole), expected);
  for (const auto& [step, loss] : one.losses)
    EXPECT_NEAR(changing.losses[step] / loss, 1.0, 1e-5) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(All, StepsOnRanks, ::testing::Bool(), [](const auto& kind) {
  return kind.param ? "WithABatchRamp" : "WithOneBatchSize";
});

TEST_F(RunDataTest, ANumberOfRanksThatWouldChangeTheBatchDoesNotResume) {
  Recorder recorder;
  recorder.stop_after = 1;
  run(config("run", 6, {{"batch.tokens", "0"}}), recorder);
  const std::string message =
      refusal(config("run", 6, {{"batch.tokens", "0"}, {"system.ranks", "2"}}), true);
  EXPECT_NE(message.find("batch.tokens (was 32, is 64)"), std::string::npos) << message;
  recorder.stop = false;
  recorder.stop_after = 0;
  const auto halved =
      config("run", 6, {{"batch.tokens", "32"}, {"batch.micro_batch", "1"}, {"system.ranks", "2"}});
  EXPECT_EQ(run(halved, recorder, true).state.step, 6);
}

TEST_F(RunDataTest, ResumingOnOtherDataIsRefusedWithBothHashesAndWhatDiffers) {
  const std::string data = mixture();
  Recorder recorder;
  recorder.stop_after = 1;
  run(config("run", 6, {{"data.train", data}}), recorder);
  const auto resume = [&] { return refusal(config("run", 6, {{"data.train", data}}), true); };

  mixture("max_epochs = 100\n");  // a limit decides nothing about the samples
  EXPECT_EQ(resume(), "accepted");
  recorder.stop = false;

  write("documents/120.txt", std::string(280, '!'));  // as long as before
  EXPECT_NE(resume().find("content of"), std::string::npos) << resume();
  write("documents/120.txt", "shorter");
  EXPECT_NE(resume().find("tokens of"), std::string::npos) << resume();
  mixture();
  write("mixture.toml", mixed("0.7"));
  const std::string message = resume();
  EXPECT_NE(message.find("weight of " + (root_ / "text.txt").string() + " (was 0.8, is 0.7)"),
            std::string::npos)
      << message;
  const std::string was = fmt::format(
      "{:016x}",
      read_run_steps(*posix_storage(), (root_ / "run" / "ledger.jsonl").string()).data->hash());
  EXPECT_NE(message.find("hash " + was + ", now "), std::string::npos) << message;
}

TEST_F(RunDataTest, DataThatMovedIsTheSameData) {
  Recorder recorder;
  recorder.stop_after = 2;
  run(config("run", 6), recorder);
  fs::rename(root_ / "text.txt", root_ / "moved.txt");
  recorder.stop = false;
  recorder.stop_after = 0;
  const auto moved = config("run", 6, {{"data.train", (root_ / "moved.txt").string()}});
  EXPECT_EQ(run(moved, recorder, true).state.step, 6);
}

TEST_F(RunDataTest, ASourceIsNotPassedOverMoreOftenThanAllowed) {
  const std::string data = mixture("max_epochs = 1\n");
  Recorder recorder;
  run(config("short", 4, {{"data.train", data}}), recorder);
  const std::string message = refusal(config("long", 1'000, {{"data.train", data}}), false);
  EXPECT_NE(message.find("documents: the run would pass over it"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(root_ / "long"));
}

TEST_F(RunDataTest, TokensAreNotRepeatedUnlessItIsSaidButTextIs) {
  std::string ids;
  for (int i = 0; i < 2000; ++i) ids += std::string("\1\0", 2);  // u16
  write("tokens.bin", ids);
  const Overrides tokens = {{"data.train", (root_ / "tokens.bin").string()}};
  const auto with = [&](const std::string& max_epochs) {
    Overrides all = tokens;
    all.emplace_back("data.max_epochs", max_epochs);
    return all;
  };
  const std::string message = refusal(config("run", 30, tokens), false);  // 3,840 of 1,900
  EXPECT_NE(message.find("add --set data.max_epochs=3"), std::string::npos) << message;
  EXPECT_EQ(refusal(config("allowed", 30, with("3")), false), "accepted");
  EXPECT_NE(refusal(config("run", 30, with("2")), false), "accepted");
  EXPECT_EQ(refusal(config("text", 600), false), "accepted");
  EXPECT_NE(refusal(config("run", 600, {{"data.max_epochs", "1"}}), false), "accepted");
}

// Whatever holds the tokens, in the same words.
TEST_F(RunDataTest, AVocabularyBeyondTheModelsIsRefused) {
  const auto storage = posix_storage();
  testing_support::write_small_shards((root_ / "shards").string(), {{"a", "1", "text of shards"}},
                                      8);
  for (const std::string& data : {(root_ / "shards").string(), write("a.txt", "text"),
                                  write("a.bin", std::string(100, '\0')), mixture()}) {
    const RunConfig small = config("run", 4, {{"data.train", data}, {"model.vocab", "256"}});
    EXPECT_EQ(testing_support::error_of(ErrorCode::Config, [&] { open_run_data(*storage, small); }),
              "model.vocab is 256, but the byte tokenizer has 257 ids: set model.vocab to at least "
              "that")
        << data;
  }
}

TEST_F(RunDataTest, MixturesHoldOutTheTailOfEachSource) {
  const RunData data =
      open_run_data(*posix_storage(), config("run", 1, {{"data.train", mixture()}}));
  ASSERT_EQ(data.valid->parts().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t train = data.train->parts()[i].source->num_tokens();
    const int64_t valid = data.valid->parts()[i].source->num_tokens();
    EXPECT_NEAR(static_cast<double>(valid) / static_cast<double>(train + valid), 0.05, 0.01);
  }
  EXPECT_GT(data.valid->num_target_bytes(0, data.valid->one_pass()), 0);
}

}  // namespace
}  // namespace ingot
