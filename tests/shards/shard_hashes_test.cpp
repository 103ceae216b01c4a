// Hashes of chunks and of documents: a change is found where it is read, equal documents are equal.
#include "shards/shard_hashes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "core/error/error.h"
#include "shards/shard_folder.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing_support::error_of;
using testing_support::TemporaryFolder;

ContentId content_of(const std::vector<int32_t>& ids, int32_t bos, int32_t eos,
                     size_t part = SIZE_MAX) {
  ContentHasher hasher(bos, eos);
  for (size_t at = 0; at < ids.size();) {
    const auto some = std::span(ids).subspan(at).first(std::min(part, ids.size() - at));
    hasher.add(some);
    at += some.size();
  }
  return hasher.finish();
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
}

void flip(const std::string& path, size_t at) {
  std::string bytes = read_text(*posix_storage(), path);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
  write_file_atomically(*posix_storage(), path, bytes);
}

// As an Ingot that wrote no hashes leaves it.
ShardManifest without_hashes(ShardManifest manifest) {
  for (ShardFile& shard : manifest.shards) shard.hashes_hash.reset();
  return manifest;
}

TEST(ContentIds, AreOfWhatStandsBetweenBosAndEos) {
  const ContentId plain = content_of({5, 6, 7}, -1, -1);
  EXPECT_EQ(content_of({1, 5, 6, 7, 2}, 1, 2), plain);
  EXPECT_EQ(content_of({5, 6, 7, 2}, 1, 2), plain);
  EXPECT_EQ(content_of({1, 5, 6, 7}, 1, 2), plain);
  EXPECT_NE(content_of({1, 5, 6, 7}, -1, -1), plain);
  EXPECT_NE(content_of({6, 5, 7}, -1, -1), plain);
  EXPECT_NE(content_of({5, 6, 7, 2, 8}, 1, 2), content_of({5, 6, 7, 8}, 1, 2));
}

TEST(ContentIds, DoNotDependOnTheParts) {
  const std::vector<int32_t> ids = {1, 5, 2, 2, 1, 9, 2};
  for (size_t part = 1; part < 8; ++part)
    EXPECT_EQ(content_of(ids, 1, 2, part), content_of({5, 2, 2, 1, 9}, -1, -1)) << part;
}

TEST(ShardHashes, SayWhatTokensSay) {
  const TemporaryFolder folder;
  for (const int64_t vocab : {300, 1 << 20}) {
    const auto documents = some_documents(20'000, 30, vocab);
    const ShardManifest manifest =
        write_shards(posix_storage(), folder.path(), documents, 100'000, vocab);
    ASSERT_GT(manifest.shards.size(), 2u);
    const ShardFolder shards(folder.path());
    for (size_t i = 0; i < documents.size(); i += 7) {
      const auto document = static_cast<int64_t>(i);
      ASSERT_EQ(shards.content(document), content_of(documents[i].ids, -1, -1));
    }
    const ShardReader older(folder.path(), without_hashes(manifest), 1);
    EXPECT_FALSE(older.has_hashes());
    EXPECT_EQ(older.content(3), shards.content(shards.first_document(1) + 3));
  }
}

// Three chunks of tokens; each is compared when a read touches it, and only then.
TEST(ShardHashes, AChangeIsFoundWhereItIsRead) {
  const TemporaryFolder folder;
  std::vector<TokenDocument> documents = some_documents(70'000, 2, 300);
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 1'000'000, 300);
  ASSERT_EQ(manifest.shards.size(), 1u);
  ASSERT_GT(manifest.shards[0].num_tokens * 2, 3 * 65'536);
  flip(folder.path("00000.tokens"), 65'536 + 10);
  const ShardReader shard(folder.path(), manifest, 0);
  std::vector<int32_t> ids(100);
  EXPECT_NO_THROW(shard.tokens(32'768 - 100, ids));
  EXPECT_NO_THROW(shard.tokens(65'536, ids));
  for (const int64_t begin : {32'768 - 99, 32'768, 65'535}) {
    const std::string message = error_of(ErrorCode::Data, [&] { shard.tokens(begin, ids); });
    expect_part(message, "00000.tokens: tokens [32768, 65536) changed");
    expect_part(message, "ingot data verify");
  }
}

TEST(ShardHashes, AChangedIndexIsFoundWhereItIsRead) {
  const TemporaryFolder folder;
  const auto documents = some_documents(10'000, 9, 300);
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 1'000'000, 300);
  flip(folder.path("00000.documents"), 3'000 * sizeof(DocumentRecord));
  const ShardReader shard(folder.path(), manifest, 0);
  const int64_t end = shard.document_end(5'000);  // of the chunk behind
  EXPECT_EQ(shard.document_of(end - 1), 5'000);
  expect_part(error_of(ErrorCode::Data, [&] { shard.document_end(3'000); }),
              "00000.documents: documents [2048, 4096) changed");
  expect_part(error_of(ErrorCode::Data, [&] { shard.document_of(end / 5 * 3); }), "changed");
}

// The search for a document passes over records that it does not return.
TEST(ShardHashes, ASearchThatAChangedIndexMisleadsThrows) {
  const TemporaryFolder folder;
  const auto documents = some_documents(10'000, 9, 300);
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 1'000'000, 300);
  const ShardReader before(folder.path(), manifest, 0);
  const int64_t position = before.document_begin(9'000);
  std::string bytes = read_text(*posix_storage(), folder.path("00000.documents"));
  bytes[5'000 * sizeof(DocumentRecord) + 4] = 1;  // the first that the search looks at: far away
  write_file_atomically(*posix_storage(), folder.path("00000.documents"), bytes);
  const ShardReader shard(folder.path(), manifest, 0);
  expect_part(error_of(ErrorCode::Data, [&] { shard.document_of(position); }), "changed");
}

TEST(ShardHashes, ThreadsMayReadTheSameChunks) {
  const TemporaryFolder folder;
  const auto documents = some_documents(50'000, 20, 300);
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 10'000'000, 300);
  const ShardReader shard(folder.path(), manifest, 0);
  std::vector<std::vector<int32_t>> read(4);
  {
    std::vector<std::jthread> threads;
    for (auto& ids : read)
      threads.emplace_back([&] {
        ids.resize(static_cast<size_t>(shard.num_tokens()));
        shard.tokens(0, ids);
      });
  }
  for (const auto& ids : read) EXPECT_EQ(ids, read[0]);
}

TEST(ShardHashes, AreBoundToTheManifest) {
  const TemporaryFolder folder;
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), some_documents(90, 90, 300), 1'000'000, 300);
  const std::string path = folder.path("00000.hashes"), whole = read_text(*posix_storage(), path);
  const auto open = [&] {
    return error_of(ErrorCode::Data, [&] { ShardReader(folder.path(), manifest, 0); });
  };
  flip(path, whole.size() - 1);
  expect_part(open(), "00000.hashes: the file changed after it was written");
  folder.write("00000.hashes", whole.substr(8));
  expect_part(open(), "00000.hashes: truncated");
  fs::remove(path);
  expect_part(open(), "00000.hashes");
  // Of the part that holds the documents' hashes, when one of those is asked for.
  folder.write("00000.hashes", whole);
  flip(path, 16 * 10);
  const ShardReader shard(folder.path(), manifest, 0);
  expect_part(error_of(ErrorCode::Data, [&] { shard.content(3); }),
              "00000.hashes: contents of documents [0, 90) changed");
}

TEST(ShardHashes, ARunsDataIsTheSameWithAndWithoutThem) {
  const TemporaryFolder folder;
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), some_documents(90, 90, 300), 1'000, 300);
  const ShardManifest older = without_hashes(manifest);
  EXPECT_EQ(manifest_hash(manifest), manifest_hash(older));
  EXPECT_EQ(to_json(parse_manifest(to_json(older), "m")), to_json(older));
  EXPECT_EQ(to_json(older).find("hashes_hash"), std::string::npos);
  EXPECT_EQ(to_json(parse_manifest(to_json(manifest), "m")), to_json(manifest));
}

}  // namespace
}  // namespace ingot::test
