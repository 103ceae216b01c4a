// What ranks make sure of before the first step, with ranks that are threads in their places.
#include "train/start/agreement.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "core/error/error.h"
#include "parallel/comm/world.h"
#include "support/own_folder.h"

namespace ingot {
namespace {

// What three ranks are refused with, by rank; empty: they agree.
std::vector<std::string> refusals_of(const std::function<void(Control& control)>& meet) {
  std::mutex mutex;
  std::vector<std::string> refusals(3);
  run_local_ranks(3, Device::cpu(), [&](World& world) {
    std::string said;
    try {
      meet(world.control());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Config);
      said = error.what();
    }
    const std::lock_guard lock(mutex);
    refusals[static_cast<size_t>(world.rank())] = said;
  });
  return refusals;
}

// In the same words on all of them.
std::string refusal(const std::function<void(Control& control)>& meet) {
  const std::vector<std::string> refusals = refusals_of(meet);
  EXPECT_EQ(refusals[1], refusals[0]);
  EXPECT_EQ(refusals[2], refusals[0]);
  return refusals[0];
}

RankPlace on_host(const std::string& host) {
  return {host, "cpu", "", ""};
}

TEST(Agreement, NamesEverySettingThatDiffersAndWhoHasWhat) {
  EXPECT_EQ(refusal([](Control& control) {
              RunConfig config;
              // A machine's own, which may differ.
              config.system.threads = control.rank();
              config.checkpoint.dir = std::to_string(control.rank());
              agree_on_settings(control, "a", config, on_host("a"));
            }),
            "");
  EXPECT_EQ(
      refusal([](Control& control) {
        RunConfig config;
        if (control.rank() == 1) config.optim.lr = 0.5;
        if (control.rank() > 0) config.train.seed = 7;
        agree_on_settings(control, "a", config, on_host("a"));
      }),
      "settings differ between ranks: «optim.lr = 0.001» on ranks 0, 2 and «optim.lr = 0.5» "
      "on rank 1; «train.seed = 1337» on rank 0 and «train.seed = 7» on ranks 1, 2; start all "
      "with the same recipe and the same --set");
}

TEST(Agreement, OneProgramOnly) {
  const std::string refused = refusal([](Control& control) {
    agree_on_settings(control, control.rank() == 2 ? "ingot 1 f00" : "ingot 1 ba5", RunConfig(),
                      on_host("a"));
  });
  EXPECT_NE(refused.find("«ingot 1 ba5» on ranks 0, 1 and «ingot 1 f00» on rank 2"),
            std::string::npos)
      << refused;
}

TEST(Agreement, ReturnsWhereRanksAre) {
  EXPECT_EQ(refusal([](Control& control) {
              const std::string own = std::to_string(control.rank());
              const auto places =
                  agree_on_settings(control, "a", RunConfig(), {own, "cuda:0 X", "gpu" + own, own});
              ASSERT_EQ(places.size(), 3u);
              EXPECT_EQ(places[2].host + places[2].device + places[2].gpu + places[2].cores,
                        "2cuda:0 Xgpu22");
            }),
            "");
}

TEST(Agreement, RanksOnOneGpuMustHaveBeenMeant) {
  const auto meet = [](bool may_share) {
    return refusal([&](Control& control) {
      RunConfig config;
      config.system.share_gpu = may_share;
      agree_on_settings(control, "a", config,
                        {"h", "cuda:0 X", control.rank() == 1 ? "other" : "same", ""});
    });
  };
  EXPECT_EQ(meet(true), "");
  const std::string refused = meet(false);
  for (const std::string part : {"ranks 0, 2", "cuda:0 X of host h", "system.share_gpu=true"})
    EXPECT_NE(refused.find(part), std::string::npos) << refused;
}

TEST(Agreement, DataIsComparedByContentAndSaysWhatDiffers) {
  DataIdentity identity{16, 1, "concat", {{"a", 10, 100, 1, 6, 1.0}}};
  const auto meet = [&](const std::function<void(DataIdentity&)>& change) {
    return refusal([&](Control& control) {
      DataIdentity own = identity;
      if (control.rank() == 2) change(own);
      agree_on_data(control, "data.train", own);
    });
  };
  EXPECT_EQ(meet([](DataIdentity& own) { own.sources[0].path = "elsewhere"; }), "");
  const std::string refused = meet([](DataIdentity& own) { own.sources[0].content = 11; });
  for (const std::string part : {"data.train", "rank 2 has other data", "content"})
    EXPECT_NE(refused.find(part), std::string::npos) << refused;
  EXPECT_EQ(refused.find("rank 1"), std::string::npos) << refused;
}

TEST(Agreement, TextsAreComparedByHash) {
  const auto meet = [](const std::string& text) {
    return refusal([&](Control& control) {
      agree_on_contents(control, "data.tokenizer", control.rank() == 1 ? text : "abc", "do so");
    });
  };
  EXPECT_EQ(meet("abc"), "");
  EXPECT_NE(meet("abd").find("on rank 1; do so"), std::string::npos) << meet("abd");
}

TEST(Agreement, AFolderThatIsNotSharedIsRefusedAndNothingIsLeft) {
  namespace fs = std::filesystem;
  const fs::path root = testing_support::own_folder();
  fs::create_directories(root / "a");
  fs::create_directories(root / "b");
  const auto meet = [&](const std::string& of_rank_two) {
    return refusals_of([&](Control& control) {
      const fs::path dir = root / (control.rank() == 2 ? of_rank_two : "a") / "runs/x";
      agree_on_folder(control, *posix_storage(), dir.string(), "host2");
    });
  };
  const std::vector<std::string> agreed(3);
  EXPECT_EQ(meet("a"), agreed);
  for (const std::string& refused : meet("b"))
    for (const std::string part : {"checkpoint.dir", "rank 2 (host host2)", "share"})
      EXPECT_NE(refused.find(part), std::string::npos) << refused;
  fs::create_directories(root / "a/runs/x");  // where a run is gone on with
  EXPECT_EQ(meet("a"), agreed);
  EXPECT_TRUE(fs::is_empty(root / "a/runs/x"));
  EXPECT_TRUE(fs::is_empty(root / "b"));
  fs::remove_all(root);
}

TEST(Agreement, ListsOfRanksAreShort) {
  EXPECT_EQ(named_ranks({2}), "rank 2");
  EXPECT_EQ(named_ranks({0, 1, 4, 5, 6, 9}), "ranks 0, 1, 4-6, 9");
}

}  // namespace
}  // namespace ingot
