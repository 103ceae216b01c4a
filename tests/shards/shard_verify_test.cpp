// ingot data verify, below the command: every kind of damage is found and named.
#include <gtest/gtest.h>

#include <functional>

#include "core/error/error.h"
#include "shards/shard_folder.h"
#include "shards/verify.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

constexpr int32_t kBos = 298, kEos = 299;

std::vector<TokenDocument> marked_documents() {
  auto documents = some_documents(200, 40, 298);
  for (TokenDocument& document : documents) {
    document.ids.insert(document.ids.begin(), kBos);
    document.ids.push_back(kEos);
  }
  return documents;
}

// Writes the documents with BOS and EOS declared.
ShardManifest write_marked(const std::string& folder, const std::vector<TokenDocument>& documents) {
  return write_shards(posix_storage(), folder, documents, 1'000, 300, kBos, kEos);
}

std::string problems_of(const std::string& folder, const ShardManifest& manifest) {
  std::string all;
  for (const std::string& problem : verify_shards(folder, manifest, 2, {})) all += problem + "\n";
  return all;
}

TEST(VerifyShards, GoodOnesHaveNoProblems) {
  const TemporaryFolder folder;
  const ShardManifest manifest = write_marked(folder.path("out"), marked_documents());
  int64_t last = 0;
  EXPECT_TRUE(verify_shards(folder.path("out"), manifest, 2, [&](int64_t tokens) {
                last = tokens;
              }).empty());
  EXPECT_EQ(last, manifest.num_tokens());
}

TEST(VerifyShards, BosAndEosStandOnceAtTheEnds) {
  const TemporaryFolder folder;
  const std::vector<std::function<void(std::vector<int32_t>&)>> changes = {
      [](auto& ids) { ids.front() = 1; },
      [](auto& ids) { ids.back() = 1; },
      [](auto& ids) { ids[ids.size() / 2] = kEos; },
      [](auto& ids) { ids[ids.size() / 2] = kBos; },
      [](auto& ids) { ids.push_back(kEos); },
      [](auto& ids) { ids.insert(ids.begin(), kBos); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    auto documents = marked_documents();
    while (documents[60].ids.size() < 9) documents[60].ids.insert(documents[60].ids.begin() + 1, 5);
    changes[i](documents[60].ids);
    const std::string out = folder.path(std::to_string(i));
    const std::string problems = problems_of(out, write_marked(out, documents));
    EXPECT_NE(problems.find("once, at its ends"), std::string::npos) << i << problems;
  }
}

TEST(VerifyShards, ACutDocumentNeedsNoEos) {
  const TemporaryFolder folder;
  auto documents = marked_documents();
  documents[60].ids.back() = 1;
  ShardManifest manifest = write_marked(folder.path("out"), documents);
  EXPECT_NE(problems_of(folder.path("out"), manifest), "");
  manifest.cut_documents = {60};
  EXPECT_EQ(problems_of(folder.path("out"), manifest), "");
  manifest.cut_documents = {61};
  EXPECT_NE(problems_of(folder.path("out"), manifest), "");
}

TEST(VerifyShards, EveryChangedShardIsNamed) {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const ShardManifest manifest = write_marked(out, marked_documents());
  ASSERT_GT(manifest.shards.size(), 4u);
  for (const char* name : {"00001.tokens", "00002.documents", "00003.names", "00004.hashes"}) {
    std::string bytes = read_text(*posix_storage(), join_path(out, name));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
    folder.write(std::string("out/") + name, bytes);
  }
  const std::string problems = problems_of(out, manifest);
  for (const char* name : {"00001.tokens", "00002.documents", "00003.names", "00004.hashes"}) {
    EXPECT_NE(problems.find(name), std::string::npos) << problems;
  }
  EXPECT_EQ(problems.find("00000"), std::string::npos) << problems;
}

// Changed together with the manifest's hash, so that only the contents tell.
TEST(VerifyShards, ContentsAreCheckedToo) {
  const TemporaryFolder folder;
  const auto written = marked_documents();
  const auto with = [&](const std::string& name,
                        const std::function<void(ShardManifest&)>& change) {
    ShardManifest manifest = write_marked(folder.path(name), written);
    change(manifest);
    return problems_of(folder.path(name), manifest);
  };
  EXPECT_NE(with("ids", [](ShardManifest& m) { m.vocab_size = 200; }).find("vocabulary of 200"),
            std::string::npos);
  EXPECT_NE(with("names", [](ShardManifest& m) { m.sources[0].name = "other"; })
                .find("does not have the id"),
            std::string::npos);
  EXPECT_NE(
      with("sums", [](ShardManifest& m) { m.sources[0].num_bytes += 1; }).find("the manifest says"),
      std::string::npos);
}

TEST(ShardFolders, NumberDocumentsThroughAllShards) {
  const TemporaryFolder folder;
  const auto documents = some_documents(300, 40, 300);
  write_shards(posix_storage(), folder.path("out"), documents, 1'000, 300);
  const ShardFolder shards(folder.path("out"));
  ASSERT_EQ(shards.num_documents(), 300);
  for (int64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(shards.ids(i), documents[static_cast<size_t>(i)].ids);
  }
  error_of(ErrorCode::Usage, [&] { shards.document(300); });
  error_of(ErrorCode::Usage, [&] { shards.document(-1); });
}

}  // namespace
}  // namespace ingot::test
