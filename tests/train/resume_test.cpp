#include "train/start/resume.h"

#include <gtest/gtest.h>

#include "parallel/comm/world.h"
#include "support/counting_storage.h"
#include "support/files.h"
#include "support/train_fixture.h"
#include "tokenizer/llama2c_file.h"
#include "train/start/init_tokenizer.h"
#include "train/start/run_data.h"
#include "train/start/run_folder.h"
#include "train/step/engine.h"
#include "train/step/rate_factor.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using test::Recorder;
using testing_support::error_of;

class Resume : public test::TrainFixture {
 protected:
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(root_ / name, std::ios::binary) << contents;
  }
  // A checkpoint without any training, whatever a run would check.
  std::string save(const RunConfig& saved, const RunState& state,
                   const AuxiliaryFiles& auxiliary_files = {}) const {
    const auto world = single_world();
    Engine engine(resolve_here(saved), *world);
    engine.init(1);
    RateFactor rate;
    RunState all = state;
    StateSection* sections[] = {&rate};
    all.sections = save_sections(sections);
    return save_checkpoint(*posix_storage(), world->control(), saved.checkpoint.dir, saved, all,
                           engine.parameters(), engine.store(), auxiliary_files);
  }
  // A checkpoint of a run with this tokenizer, as the file in it.
  std::string saved_with(const std::string& tokenizer) const {
    return save(config("run", 2), {}, {.tokenizer = tokenizer});
  }
  std::string serialized(const std::string& checkpoint, const std::string& tokenizer) const {
    const RunConfig resumed = config("run", 2, {{"data.tokenizer", tokenizer}});
    const CheckpointReader reader(posix_storage(), checkpoint);
    return tokenizer_to_resume(*posix_storage(), resumed, reader.info())->serialize();
  }
};

TEST_F(Resume, TheSettingsAreThoseOfTheLastStartWhereverTheFolderIs) {
  Recorder recorder;
  run(config("run", 2, {{"optim.schedule.kind", "constant"}}), recorder);
  fs::rename(root_ / "run", root_ / "moved");
  const auto saved = [&](const Overrides& overrides) {
    return saved_run(posix_storage(), path("moved"), overrides).config;
  };
  EXPECT_EQ(saved({}).train.steps, 2);
  EXPECT_EQ(saved({}).checkpoint.dir, path("moved"));
  run(saved({{"train.steps", "4"}}), recorder, /*resume=*/true);
  EXPECT_EQ(saved({}).train.steps, 4);
  fs::remove(root_ / "moved" / kRunConfigName);
  EXPECT_EQ(saved({}).train.steps, 4);  // the newest checkpoint's
}

TEST_F(Resume, AFolderWithoutARunAndAnotherFolderForItAreRefused) {
  fs::create_directories(root_ / "empty");
  error_of(ErrorCode::Data, [&] { saved_run(posix_storage(), path("empty"), {}); });
  error_of(ErrorCode::Usage, [&] {
    saved_run(posix_storage(), path("empty"), {{"checkpoint.dir", "elsewhere"}});
  });
}

TEST_F(Resume, TokenizersAreComparedByWhatTheyHold) {
  const std::string file = testing_support::small_llama2c_file();
  const std::string checkpoint = saved_with(file);
  write("tok.bin", file);
  write("other.bin", testing_support::llama2c_file({{" ", -1}}));
  EXPECT_EQ(serialized(checkpoint, path("tok.bin")), file);
  EXPECT_EQ(serialized(checkpoint, path("gone.bin")), file);
  for (const std::string& other : {path("other.bin"), std::string("byte")}) {
    const std::string refusal = error_of(ErrorCode::Config, [&] { serialized(checkpoint, other); });
    EXPECT_NE(refusal.find(other + " is not the tokenizer"), std::string::npos) << refusal;
  }
}

TEST_F(Resume, ACheckpointWithACopyOfTheFileKnowsItAgain) {
  const std::string ranks = "YQ== 0\nYg== 1\nYWI= 2\n";
  const std::string checkpoint = saved_with(ranks);
  write("ranks.toml", "split = \"gpt2\"\n");
  write("ranks.tiktoken", ranks);
  EXPECT_NE(serialized(checkpoint, path("ranks.tiktoken")), "");
  write("ranks.tiktoken", ranks + "Yw== 3\n");
  error_of(ErrorCode::Config, [&] { serialized(checkpoint, path("ranks.tiktoken")); });
}

using InitTokenizer = Resume;

TEST_F(InitTokenizer, IsComparedWhereTheCheckpointSaysItsOwn) {
  const auto other = parse_llama2c_tokenizer(testing_support::small_llama2c_file(), "other");
  const auto check = [&](const std::string& from, const Tokenizer& tokenizer, bool accepted) {
    RunConfig config = parse_run_config("", "", {});
    config.train.other_tokenizer = accepted;
    const CheckpointReader reader(posix_storage(), from);
    check_init_tokenizer(*posix_storage(), reader.info(), tokenizer, config);
  };
  const std::string bytes = save(config("bytes", 2), {});
  EXPECT_NO_THROW(check(bytes, *byte_tokenizer(), false));
  EXPECT_NO_THROW(check(bytes, *other, true));
  error_of(ErrorCode::Config, [&] { check(bytes, *other, false); });
  const std::string own = save(config("own", 2), {}, {.tokenizer = other->serialize()});
  EXPECT_NO_THROW(check(own, *other, false));
  error_of(ErrorCode::Config, [&] { check(own, *byte_tokenizer(), false); });
  // Of these nobody knows: ids of a token file, and one of the files of a tokenizer.
  EXPECT_NO_THROW(check(save(config("ids", 2, {{"data.train", "ids.bin"}}), {}), *other, false));
  const std::string part = save(config("part", 2), {}, {.tokenizer = "YQ== 0\nYg== 1\n"});
  EXPECT_NO_THROW(check(part, *other, false));
}

// Settings, tokenizer, data, schedule and numbers are of one reader, on however many ranks.
TEST_F(Resume, ReadsTheManifestOnce) {
  for (const char* ranks : {"1", "2"}) {
    const std::string name = std::string("run") + ranks;
    const auto of = [&](int64_t steps) {
      return config(name, steps, {{"system.ranks", ranks}, {"optim.schedule.kind", "constant"}});
    };
    Recorder recorder;
    run(of(2), recorder);
    const auto storage = std::make_shared<test::CountingStorage>(posix_storage());
    TrainOptions options;
    options.resume = true;
    EXPECT_EQ(test::train_locally(of(3), options, storage).state.step, 3);
    EXPECT_EQ(storage->opens(path(name) + "/step_00000002/manifest.json"), 1) << ranks;
  }
}

TEST_F(Resume, WhatAnOlderProgramBeganWithAWarmupBelowAStepGoesOn) {
  // 128 tokens a step.
  const auto short_warmup = [&](const std::string& name) {
    return config(name, 2, {{"optim.schedule.unit", "tokens"}, {"optim.schedule.warmup", "10"}});
  };
  Recorder recorder;
  const std::string refusal =
      error_of(ErrorCode::Config, [&] { run(short_warmup("new"), recorder); });
  EXPECT_NE(refusal.find("for 10 steps --set optim.schedule.warmup=1280"), std::string::npos);
  save(short_warmup("run"), {});
  EXPECT_EQ(run(short_warmup("run"), recorder, /*resume=*/true).state.step, 2);
}

TEST_F(Resume, WhatAnOlderProgramBeganWithoutAFractionHoldsOutItsSequence) {
  const RunConfig none = config("run", 2, {{"data.valid_fraction", "0"}});
  RunConfig before = none;
  before.data.valid_fraction = 1e-9;
  RunState state;
  state.data = to_json(open_run_data(*posix_storage(), before).identity).dump();
  save(none, state);
  Recorder recorder;
  EXPECT_TRUE(run(none, recorder, /*resume=*/true).eval);
  RunConfig anew = none;
  anew.checkpoint.dir = path("new");
  EXPECT_FALSE(run(anew, recorder).eval);
}

TEST_F(Resume, AnEmptyFolderOrOneOfARunThatSavedNothingStartsFresh) {
  const auto found = [&] {
    return find_resume_point(posix_storage(), resolve_here(config("run", 2)), /*resume=*/true)
        .has_value();
  };
  EXPECT_FALSE(found());
  fs::create_directories(root_ / "run" / ".step_00000002.tmp");  // its first save was cut off
  write("run/run.toml", "");
  EXPECT_FALSE(found());
  fs::create_directories(root_ / "run" / "step_00000002");
  EXPECT_THROW(found(), Error);
}

}  // namespace
}  // namespace ingot
