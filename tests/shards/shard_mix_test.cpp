// ingot data mix, below the command: exact counts, disjoint splits, the same bytes again.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "core/error/error.h"
#include "shards/mix/plan.h"
#include "shards/verify.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing_support::error_of;
using testing_support::TemporaryFolder;

constexpr int32_t kEos = 299;

// Folders "a" and "b" with documents that end with EOS and have names of their own.
class MixTest : public ::testing::Test {
 protected:
  MixTest() {
    make("a", 400, 100);
    make("b", 900, 30);
    settings_.seed = 5;
    settings_.train_tokens = 9'000;
    settings_.valid_tokens = 1'001;
    settings_.test_tokens = 503;
    settings_.shard_tokens = 2'000;
    settings_.sources = {{folder_.path("a"), 3, 1, -1}, {folder_.path("b"), 1, 1, -1}};
  }

  // `more`: documents of their own besides.
  void make(const std::string& name, int64_t count, int64_t longest, int64_t more = 0) {
    auto documents = some_documents(count, longest, kEos);
    for (int64_t i = 0; i < more; ++i) {
      const auto number = static_cast<int32_t>(i);
      documents.push_back({0, "more" + std::to_string(i), std::vector<int32_t>(20, number)});
    }
    for (TokenDocument& document : documents) {
      document.ids.push_back(kEos);
      document.name = name + document.name;
      tokens_[name] += static_cast<int64_t>(document.ids.size());
    }
    ShardManifest manifest =
        write_shards(posix_storage(), folder_.path(name), documents, 5'000, 300);
    manifest.eos = kEos;
    write_manifest(*posix_storage(), folder_.path(name), manifest);
  }

  std::vector<MixSplit> run(const std::string& out) {
    return mix(posix_storage(), settings_, folder_.path(out), 2, {}).splits;
  }
  std::map<std::string, std::string> contents(const std::string& out) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path(out))) {
      if (entry.is_regular_file()) {
        files[fs::relative(entry.path(), folder_.path(out))] =
            read_text(*posix_storage(), entry.path());
      }
    }
    return files;
  }
  // How often each document is in a split.
  std::map<DocumentId, int> ids_in(const std::string& split) {
    const ShardFolder shards(folder_.path(split));
    std::map<DocumentId, int> ids;
    for (int64_t i = 0; i < shards.num_documents(); ++i) {
      const auto place = shards.document(i);
      ++ids[place.shard->id(place.document)];
    }
    return ids;
  }

  const TemporaryFolder folder_;
  std::map<std::string, int64_t> tokens_;
  MixSettings settings_;
};

TEST_F(MixTest, SplitsHaveExactlyTheTokensAskedFor) {
  const std::vector<MixSplit> splits = run("out");
  ASSERT_EQ(splits.size(), 3u);
  const std::map<std::string, int64_t> wanted = {{"train", 9'000}, {"valid", 1'001}, {"test", 503}};
  for (const MixSplit& split : splits) {
    EXPECT_EQ(split.manifest.num_tokens(), wanted.at(split.name)) << split.name;
    const std::vector<int64_t> shares = shares_of(wanted.at(split.name), {3, 1});
    EXPECT_EQ(split.shares[0].tokens, shares[0]);
    EXPECT_EQ(split.shares[1].tokens, shares[1]);
    EXPECT_LE(split.manifest.cut_documents.size(), 2u);
    EXPECT_TRUE(verify_shards(folder_.path("out/" + split.name), split.manifest, 1, {}).empty());
  }
}

TEST_F(MixTest, NoDocumentIsInTwoSplits) {
  run("out");
  std::set<DocumentId> all;
  size_t sum = 0;
  for (const char* split : {"out/train", "out/valid", "out/test"}) {
    for (const auto& [id, count] : ids_in(split)) {
      EXPECT_EQ(count, 1);
      all.insert(id);
      ++sum;
    }
  }
  EXPECT_EQ(all.size(), sum);
}

TEST_F(MixTest, DocumentsKeepTokensNamesAndSources) {
  run("out");
  std::map<DocumentId, std::vector<int32_t>> originals;
  for (const char* name : {"a", "b"}) {
    const ShardFolder shards(folder_.path(name));
    for (int64_t i = 0; i < shards.num_documents(); ++i) {
      const auto place = shards.document(i);
      originals[place.shard->id(place.document)] = shards.ids(i);
    }
  }
  const ShardFolder train(folder_.path("out/train"));
  for (int64_t i = 0; i < train.num_documents(); ++i) {
    const auto place = train.document(i);
    const DocumentName name = place.shard->name(place.document);
    const std::string& source = train.manifest().sources[static_cast<size_t>(name.source)].name;
    const DocumentId id = place.shard->id(place.document);
    EXPECT_EQ(id, document_id(source, name.id));
    std::vector<int32_t> expected = originals.at(id);
    const auto& cuts = train.manifest().cut_documents;
    if (std::count(cuts.begin(), cuts.end(), i) > 0) {
      EXPECT_LT(place.num_tokens(), static_cast<int64_t>(expected.size()));
      expected.resize(static_cast<size_t>(place.num_tokens()));
    }
    EXPECT_EQ(train.ids(i), expected);
  }
}

TEST_F(MixTest, SourcesAlternateInProportion) {
  run("out");
  const ShardFolder train(folder_.path("out/train"));
  int64_t of_a = 0, all = 0;
  for (int64_t i = 0; i < train.num_documents(); ++i) {
    const auto place = train.document(i);
    all += place.num_tokens();
    if (place.shard->name(place.document).id.starts_with("a")) of_a += place.num_tokens();
    EXPECT_NEAR(static_cast<double>(of_a), 0.75 * static_cast<double>(all), 110);
  }
}

TEST_F(MixTest, TheSameAgainAndOtherwiseWithAnotherSeed) {
  run("one");
  run("two");
  EXPECT_EQ(contents("one"), contents("two"));
  const auto valid = ids_in("one/valid");
  settings_.train_tokens = 12'000;  // does not move the others
  run("more");
  EXPECT_EQ(ids_in("more/valid"), valid);
  settings_.seed = 6;
  run("other");
  EXPECT_NE(ids_in("other/valid"), valid);
}

TEST_F(MixTest, EqualBytesAfterPowerCuts) {
  run("whole");
  int cuts = 0;
  for (bool finished = false; !finished; ++cuts) {
    ASSERT_LT(cuts, 60);
    try {
      mix(faulty_storage(posix_storage(), {40 + 11 * cuts, true}), settings_, folder_.path("cut"),
          1, {});
      finished = true;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::Storage) << error.what();
    }
  }
  EXPECT_GT(cuts, 2);
  EXPECT_EQ(contents("cut"), contents("whole"));
}

TEST_F(MixTest, EpochsRepeatTrainAndNothingElse) {
  settings_.sources = {{folder_.path("a"), 1, 3, -1}};
  settings_.train_tokens = 2 * tokens_["a"];
  const std::vector<MixSplit> splits = run("out");
  EXPECT_EQ(splits.back().manifest.num_tokens(), 2 * tokens_["a"]);
  EXPECT_GT(splits.back().shares[0].epochs, 2.0);
  EXPECT_LT(splits.back().shares[0].epochs, 2.5);
  const auto train = ids_in("out/train");
  int thrice = 0;
  for (const auto& [id, count] : train) {
    EXPECT_TRUE(count == 2 || count == 3);
    thrice += count == 3 ? 1 : 0;
  }
  EXPECT_GT(thrice, 0);
  for (const char* split : {"out/valid", "out/test"}) {
    for (const auto& [id, count] : ids_in(split)) EXPECT_FALSE(train.contains(id));
  }
  EXPECT_TRUE(verify_shards(folder_.path("out/train"), splits.back().manifest, 1, {}).empty());
}

// Tokens of the splits of sources without equal documents, as they always were.
TEST_F(MixTest, DocumentsThatDifferAreMixedAsBefore) {
  for (const char* name : {"p", "q"}) {
    auto documents = some_documents(300, 50, kEos);
    for (size_t i = 0; i < documents.size(); ++i) {
      TokenDocument& document = documents[i];
      const auto number = static_cast<int32_t>(i);
      document.ids.insert(document.ids.begin(), {*name, number / 256, number % 256});
      document.ids.push_back(kEos);
      document.name = name + document.name;
    }
    write_shards(posix_storage(), folder_.path(name), documents, 5'000, 300, -1, kEos);
  }
  settings_.sources = {{folder_.path("p"), 3, 1, -1}, {folder_.path("q"), 1, 2, -1}};
  const std::vector<MixSplit> splits = run("out");
  uint64_t hash = 0;
  for (const MixSplit& split : splits) {
    EXPECT_TRUE(split.manifest.left_out.empty());
    EXPECT_EQ(split.left_out_tokens, 0);
    for (const ShardFile& shard : split.manifest.shards) hash = hash * 31 + shard.tokens_hash;
  }
  EXPECT_EQ(hash, 8870661245950393550u);
}

TEST_F(MixTest, EqualDocumentsAreInOneSplitAndSharesStayExact) {
  make("copy", 400, 100, /*more=*/50);  // what a says, under other names
  settings_.sources = {{folder_.path("a"), 1, 1, -1}, {folder_.path("copy"), 1, 2, -1}};
  settings_.train_tokens = 18'000;
  settings_.max_cut_share = 1;
  const std::vector<MixSplit> splits = run("out");
  std::map<ContentId, std::string> split_of;
  std::map<std::string, int64_t> left_out;
  for (const MixSplit& split : splits) {
    const std::map<std::string, int64_t> wanted = {
        {"train", 18'000}, {"valid", 1'001}, {"test", 503}};
    EXPECT_EQ(split.manifest.num_tokens(), wanted.at(split.name));
    EXPECT_EQ(split.shares[0].tokens, shares_of(wanted.at(split.name), {1, 1})[0]);
    const ShardFolder shards(folder_.path("out/" + split.name));
    const auto& cuts = split.manifest.cut_documents;
    for (int64_t i = 0; i < shards.num_documents(); ++i) {
      if (std::count(cuts.begin(), cuts.end(), i) > 0) continue;
      EXPECT_EQ(split_of.emplace(shards.content(i), split.name).first->second, split.name);
    }
    for (const auto& [reason, count] : split.manifest.left_out) left_out[reason] += count;
  }
  EXPECT_GT(left_out["equal_to_test"], 0);
  EXPECT_GT(left_out["equal_to_valid"], 0);
  EXPECT_GT(splits.back().left_out_tokens, 0);
}

TEST_F(MixTest, SourcesOfTheSameDocumentsAreRefusedInNewFoldersOnly) {
  const std::string out = folder_.path("out");
  settings_.max_cut_share = 1;
  settings_.sources = {{folder_.path("a"), 1, 1, -1}, {folder_.path("a") + "/", 1, 1, -1}};
  const std::string refused = error_of(ErrorCode::Config, [&] { run("out"); });
  EXPECT_NE(refused.find("max_epochs = 2"), std::string::npos) << refused;
  EXPECT_FALSE(fs::exists(out));
  // One that an older program began: its description lacks what that did not know.
  settings_.sources.pop_back();
  run("out");
  std::string stage = read_text(*posix_storage(), out + "/stage.json");
  const size_t member = stage.find(" \"equal_documents\"");
  ASSERT_NE(member, std::string::npos);
  stage.erase(member, stage.find('\n', member) + 1 - member);
  write_file_atomically(*posix_storage(), out + "/stage.json", stage);
  fs::remove(out + "/tasks/00001.json");
  fs::remove(out + "/equal_documents.json");
  EXPECT_EQ(run("out").size(), 3u);
  EXPECT_FALSE(fs::exists(out + "/equal_documents.json"));
}

TEST_F(MixTest, AllOfASourceCanBeTaken) {
  settings_.sources = {{folder_.path("a"), 1, 1, -1}};
  settings_.valid_tokens = settings_.test_tokens = 0;
  settings_.train_tokens = tokens_["a"];
  const std::vector<MixSplit> splits = run("out");
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_TRUE(splits[0].manifest.cut_documents.empty());
  EXPECT_EQ(splits[0].manifest.num_documents(), 400);
}

TEST_F(MixTest, WhatASourceLacksIsAnErrorThatSaysWhatWouldHelp) {
  settings_.train_tokens = 40'000;
  const std::string few = error_of(ErrorCode::Config, [&] { run("out"); });
  EXPECT_NE(few.find("max_epochs to 2"), std::string::npos) << few;
  EXPECT_NE(few.find("renormalize"), std::string::npos) << few;
  settings_.train_tokens = 9'000;
  settings_.sources[0].max_tokens = 100;
  const std::string limit = error_of(ErrorCode::Config, [&] { run("out"); });
  EXPECT_NE(limit.find("raise max_tokens to 6,750"), std::string::npos) << limit;
  settings_.valid_tokens = 1'000'000;
  const std::string valid = error_of(ErrorCode::Config, [&] { run("out"); });
  EXPECT_NE(valid.find("share of valid"), std::string::npos) << valid;
  EXPECT_FALSE(fs::exists(folder_.path("out")));
}

TEST_F(MixTest, RenormalizedWeightsFillTheCountFromTheOthers) {
  settings_.when_short = WhenShort::Renormalize;
  settings_.sources[0].max_tokens = 100;
  const std::vector<MixSplit> splits = run("out");
  EXPECT_EQ(splits.back().shares[0].tokens, 100);
  EXPECT_EQ(splits.back().shares[1].tokens, 8'900);
  settings_.train_tokens = 1'000'000;
  const std::string message = error_of(ErrorCode::Config, [&] { run("more"); });
  EXPECT_NE(message.find("all sources together can give"), std::string::npos) << message;
}

TEST_F(MixTest, ShardsOfAnotherTokenizerAreNotMixed) {
  ShardManifest manifest = read_manifest(*posix_storage(), folder_.path("b"));
  manifest.tokenizer_hash = 7;
  write_manifest(*posix_storage(), folder_.path("b"), manifest);
  const std::string message = error_of(ErrorCode::Config, [&] { run("out"); });
  EXPECT_NE(message.find("cannot be mixed"), std::string::npos) << message;
}

TEST(MixShares, AddUpAndFollowTheWeights) {
  EXPECT_EQ(shares_of(10, {1, 1, 1}), (std::vector<int64_t>{4, 3, 3}));
  EXPECT_EQ(shares_of(0, {1, 2}), (std::vector<int64_t>{0, 0}));
  for (const int64_t total : {int64_t{7}, int64_t{20'000'000'000}, int64_t{1} << 50}) {
    const std::vector<double> weights = {0.1, 0.2, 0.3, 1e-9, 0.4, 1.0 / 3};
    const auto shares = shares_of(total, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), int64_t{0}), total);
    for (const int64_t share : shares) EXPECT_GE(share, 0);
  }
}

TEST(MixFiles, AreParsedAndWrongKeysNamed) {
  const MixSettings settings = parse_mix(
      "seed = 3\ntrain_tokens = 20_000_000_000\nvalid_tokens = 100_000_000\ntest_tokens = "
      "100_000_000\nwhen_short = \"renormalize\"\n[[source]]\npath = \"web\"\nweight = "
      "0.7\nmax_epochs = 2\n[[source]]\npath = \"books\"\nweight = 1\nmax_tokens = 5\n",
      "mix.toml");
  EXPECT_EQ(settings.train_tokens, 20'000'000'000);
  EXPECT_EQ(settings.when_short, WhenShort::Renormalize);
  ASSERT_EQ(settings.sources.size(), 2u);
  EXPECT_EQ(settings.sources[0].max_epochs, 2);
  EXPECT_EQ(settings.sources[1].weight, 1);
  EXPECT_EQ(settings.sources[1].max_tokens, 5);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"train_tokens = 5", "[[source]]"},
      {"train_tokens = 5\n[[source]]\nweight = 1", "mix.toml:2: source.path"},
      {"train_tokens = 5\n[[source]]\npath = \"a\"\nweight = 0", "source.weight"},
      {"train_tokens = 5\n[[source]]\npath = \"a\"\nweigth = 1", "source.weigth"},
      {"train_tokens = 5\n[[source]]\npath = \"a\"\nmax_epochs = 0", "source.max_epochs"},
      {"train_token = 5\n[[source]]\npath = \"a\"",
       "mix.toml:1: unknown setting \"train_token\"; did you mean \"train_tokens\"?"},
      {"train_tokens = -5\n[[source]]\npath = \"a\"", "train_tokens"},
      {"[[source]]\npath = \"a\"", "train_tokens"},
      {"train_tokens = 5\nwhen_short = \"x\"\n[[source]]\npath = \"a\"", "when_short"},
      {"train_tokens = 1979-05-27\n[[source]]\npath = \"a\"", "date"},
      {"train_tokens = ", "mix.toml:1"},
  };
  for (const auto& [text, part] : wrong) {
    const std::string message =
        error_of(ErrorCode::Config, [&, &text = text] { parse_mix(text, "mix.toml"); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace ingot::test
