#include "train/start/checkpoint_space.h"

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/forwarding_storage.h"
#include "support/train_fixture.h"

namespace ingot {
namespace {

using testing_support::error_of;

class SmallDisk final : public test::ForwardingStorage {
 public:
  explicit SmallDisk(std::optional<int64_t> free)
      : ForwardingStorage(posix_storage()), free_(free) {}
  std::optional<int64_t> free_bytes(const std::string&) override { return free_; }

 private:
  std::optional<int64_t> free_;
};

class CheckpointSpace : public test::TrainFixture {
 protected:
  int64_t saved_bytes(const std::string& run) const {
    const auto dirs = list_checkpoints(*posix_storage(), (root_ / run).string());
    return CheckpointReader(posix_storage(), dirs.back()).info().bytes;
  }
};

TEST_F(CheckpointSpace, IsWhatACheckpointTakesButForHeaders) {
  int n = 0;
  for (const Overrides& sets :
       {Overrides{}, Overrides{{"optim.kind", "muon"}}, Overrides{{"optim.moments", "bf16"}},
        Overrides{{"train.precision", "bf16"}}, Overrides{{"train.precision", "fp64"}},
        Overrides{{"system.ranks", "2"}, {"system.data_parallel", "fully_sharded"}}}) {
    const std::string name = "run" + std::to_string(++n);
    const RunConfig run = config(name, 2, sets);
    test::Recorder recorder;
    test::run(run, recorder);
    const int64_t planned = checkpoint_bytes(resolve_here(run)), taken = saved_bytes(name);
    EXPECT_LE(planned, taken) << n;
    EXPECT_GE(planned, taken - 16384) << n;
  }
}

TEST_F(CheckpointSpace, IsOfTwoAtFirstAndOfOneWhereThereIsOne) {
  const ResolvedRun resolved = resolve_here(config("run", 2));
  const int64_t one = checkpoint_bytes(resolved);
  const auto check = [&](std::optional<int64_t> free) {
    SmallDisk disk(free);
    check_space(disk, resolved);
  };
  EXPECT_NO_THROW(check(2 * one));
  EXPECT_NO_THROW(check(std::nullopt));
  const std::string refusal = error_of(ErrorCode::Storage, [&] { check(2 * one - 1); });
  EXPECT_NE(refusal.find("two checkpoints"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find(std::to_string(2 * one) + " bytes"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find(std::to_string(2 * one - 1) + " bytes"), std::string::npos) << refusal;
  test::Recorder recorder;
  test::run(config("run", 2), recorder);
  EXPECT_NO_THROW(check(one));
  error_of(ErrorCode::Storage, [&] { check(one - 1); });
}

}  // namespace
}  // namespace ingot
