#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "support/own_folder.h"
#include "support/small_shards.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class DataSeen : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_);
    std::vector<testing_support::SmallDocument> web, books;
    for (int i = 0; i < 60; ++i)
      web.push_back({i % 3 == 0 ? "forum" : "web", "w" + std::to_string(i),
                     std::string(static_cast<size_t>(30 + 7 * (i % 11)), 'w')});
    for (int i = 0; i < 10; ++i)
      books.push_back({"books", "b" + std::to_string(i), std::string(50, 'b')});
    testing_support::write_small_shards(path("shards/web"), web, 500);
    testing_support::write_small_shards(path("shards/books"), books, 500);
    std::ofstream(root_ / "mixture.toml")
        << "[[source]]\npath = \"" << path("shards/web") << "\"\nweight = 0.75\n"
        << "[[source]]\npath = \"" << path("shards/books") << "\"\nweight = 0.25\n";
    std::ofstream(root_ / "recipe.toml")
        << "preset = \"llama_test\"\n[data]\ntrain = \"" << path("mixture.toml")
        << "\"\nmax_epochs = 9\nvalid_in_train = true\nvalid = \"" << path("shards/books")
        << "\"\n[batch]\nmicro_batch = 1\nseq = 16\ntokens = 96\n[train]\neval_tokens = "
           "64\n[optim.schedule]\nkind = \"constant\"\n[checkpoint]\nevery = 2\nkeep = 9\ndir = \""
        << path("run") << "\"\n";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  // 6 samples a step.
  void train(int64_t steps, int ranks) const {
    const Outcome outcome = run_ingot(
        {"train", path("recipe.toml"), "--resume", "--set", "train.steps=" + std::to_string(steps),
         "--set", "system.ranks=" + std::to_string(ranks)},
        root_);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  Json seen(std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"data", "seen", path("run"), "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = run_ingot(args, root_);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string& out = outcome.out;
    const size_t line = out.rfind('\n', out.size() - 2);
    return Json::parse(out.substr(line == std::string::npos ? 0 : line + 1));
  }

  fs::path root_;
};

TEST_F(DataSeen, AccountsForSourcesAndDocumentsOverResumesAndRanks) {
  train(4, 1);
  train(8, 3);
  train(10, 2);
  const Json result = seen();
  EXPECT_EQ(result.at("steps"), 10);
  EXPECT_EQ(result.at("samples"), 60);
  EXPECT_EQ(result.at("starts"), 3);
  EXPECT_EQ(result.at("lost_samples"), 0);
  EXPECT_EQ(result.at("missing_samples"), 0);
  EXPECT_EQ(result.at("repeated_samples"), 0);
  const Json& sources = result.at("sources");
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].at("samples"), 45);
  EXPECT_EQ(sources[1].at("samples"), 15);
  EXPECT_EQ(sources[0].at("tokens"), 45 * 16);
  int64_t by_origin = 0;
  ASSERT_EQ(sources[0].at("origins").size(), 2u);
  for (const Json& origin : sources[0].at("origins"))
    by_origin += origin.at("tokens").get<int64_t>();
  EXPECT_EQ(by_origin, 45 * 16);
  EXPECT_GT(sources[0].at("documents"), 10);
  EXPECT_LE(sources[0].at("documents"), 60);

  train(60, 2);  // 360 samples, 90 of them from 31 of books
  const Json more = seen();
  EXPECT_EQ(more.at("sources")[1].at("repeated"), 31);
  EXPECT_EQ(more.at("sources")[1].at("documents"), 10);
  EXPECT_GT(more.at("repeated_samples"), 0);
}

TEST_F(DataSeen, ARollbackIsTold) {
  train(8, 1);
  const Json before = seen({"--doc", "b3"});
  for (const char* newest : {"step_00000008", "step_00000006"})
    fs::remove_all(root_ / "run" / newest);
  train(8, 2);
  const Json result = seen();
  EXPECT_EQ(result.at("steps"), 8);
  EXPECT_EQ(result.at("samples"), 48);
  EXPECT_EQ(result.at("lost_samples"), 4 * 6);
  EXPECT_EQ(result.at("lost_steps"), Json::parse("[[5,8]]"));
  EXPECT_EQ(result.at("repeated_samples"), 0);

  // Steps after the fourth that saw it are there twice now, once as lost.
  const Json after = seen({"--doc", "b3"});
  std::vector<int64_t> held, held_before;
  for (const Json& use : before.at("found")[0].at("uses")) held_before.push_back(use.at("step"));
  size_t lost = 0;
  for (const Json& use : after.at("found")[0].at("uses"))
    if (use.at("lost").get<bool>())
      ++lost;
    else
      held.push_back(use.at("step"));
  EXPECT_EQ(held, held_before);
  EXPECT_EQ(lost, static_cast<size_t>(std::count_if(held.begin(), held.end(),
                                                    [](int64_t step) { return step > 4; })));
}

TEST_F(DataSeen, SaysWhatItCannotKnow) {
  train(4, 1);
  const Outcome unknown = run_ingot({"data", "seen", path("run"), "--doc", "nobody"}, root_);
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("no document \"nobody\""), std::string::npos) << unknown.err;
  fs::rename(root_ / "shards", root_ / "gone");
  const Json result = seen();  // the records are enough for the rest
  EXPECT_EQ(result.at("sources")[0].at("tokens"), 18 * 16);
  EXPECT_FALSE(result.at("sources")[0].contains("documents"));
  EXPECT_EQ(run_ingot({"data", "seen", path("run"), "--doc", "b3"}, root_).code, 1);
  EXPECT_EQ(run_ingot({"data", "seen", path("nowhere")}, root_).code, 1);
  EXPECT_EQ(run_ingot({"data", "seen", "--help"}, root_).code, 0);
}

TEST_F(DataSeen, ListsTheDocuments) {
  train(2, 1);
  const Json result = seen();
  const Outcome outcome = run_ingot({"data", "seen", path("run"), "--list"}, root_);
  const int64_t expected = result.at("sources")[0].at("documents").get<int64_t>() +
                           result.at("sources")[1].at("documents").get<int64_t>();
  int64_t listed = 0;
  for (const char* begin : {"\n    w", "\n    b"})
    for (size_t at = 0; (at = outcome.out.find(begin, at)) != std::string::npos; ++at)
      listed += std::isdigit(static_cast<unsigned char>(outcome.out[at + 6])) ? 1 : 0;
  EXPECT_EQ(listed, expected) << outcome.out;
}

}  // namespace
}  // namespace ingot::test
