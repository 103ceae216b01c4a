#include "feed/shard_source.h"
#include "feed/open_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "feed/loader.h"
#include "support/files.h"
#include "support/single_stream.h"
#include "support/small_shards.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;
using testing_support::write_small_shards;

using Ids = std::vector<int32_t>;

// Two sources, documents of growing length, several shards.
const std::vector<testing_support::SmallDocument> kDocuments{
    {"web", "w1", "one"}, {"books", "b1", "two!"},   {"web", "w2", "three"},
    {"web", "w3", "été"}, {"books", "b2", "five 5"}, {"web", "w4", "x"}};

TEST(ShardSource, ReadsAcrossShardsAsOneSequence) {
  const TemporaryFolder folder;
  write_small_shards(folder.path("s"), kDocuments, /*shard_tokens=*/8);
  const auto source = open_token_source(folder.path("s"), *byte_tokenizer(), TokenDType::Auto, 257);
  Ids expected;
  std::vector<int64_t> begins{0};
  for (const auto& document : kDocuments) {
    for (const int32_t id : byte_tokenizer()->encode(document.text)) expected.push_back(id);
    expected.push_back(256);
    begins.push_back(static_cast<int64_t>(expected.size()));
  }
  ASSERT_EQ(source->num_tokens(), static_cast<int64_t>(expected.size()));
  for (int64_t begin = 0; begin <= source->num_tokens(); ++begin)
    for (int64_t end = begin; end <= source->num_tokens(); ++end) {
      Ids ids(static_cast<size_t>(end - begin));
      source->read(begin, ids);
      ASSERT_EQ(ids, Ids(expected.begin() + begin, expected.begin() + end));
      int64_t bytes = 0;  // EOS has none
      for (const int32_t id : ids) bytes += id < 256 ? 1 : 0;
      ASSERT_EQ(source->num_bytes(begin, end), bytes) << begin << " " << end;
    }
  ASSERT_EQ(source->num_documents(), 6);
  for (int64_t d = 0; d <= 6; ++d) EXPECT_EQ(source->document_begin(d), begins[d]);
  for (int64_t d = 0; d < 6; ++d) {
    for (int64_t p = begins[d]; p < begins[d + 1]; ++p) EXPECT_EQ(source->document_at(p), d);
    EXPECT_EQ(source->document_name(d), kDocuments[d].id);
    EXPECT_EQ(source->find_document(kDocuments[d].id), d);
    EXPECT_EQ(source->find_document(to_hex(document_id(kDocuments[d].source, kDocuments[d].id))),
              d);
  }
  EXPECT_EQ(source->find_document("missing"), std::nullopt);
  EXPECT_EQ(source->origins().names, (std::vector<std::string>{"web", "books"}));
  EXPECT_EQ(source->origins().of_document, (std::vector<uint16_t>{0, 1, 0, 0, 1, 0}));
  const auto part = subrange(*source, begins[1] + 1, begins[5]);
  EXPECT_EQ(part->origins().of_document, (std::vector<uint16_t>{1, 0, 0, 1}));
  EXPECT_EQ(part->find_document("w2"), 1);
  EXPECT_EQ(part->find_document("w4"), std::nullopt);
}

TEST(ShardSource, AnotherTokenizerIsRefusedWithBothHashes) {
  const TemporaryFolder folder;
  const ShardManifest manifest =
      write_small_shards(folder.path("s"), kDocuments, 100, /*tokenizer_hash=*/0x1234);
  const auto message = error_of(ErrorCode::Config, [&] {
    open_token_source(folder.path("s"), *byte_tokenizer(), TokenDType::Auto, 257);
  });
  EXPECT_NE(message.find("0000000000001234"), std::string::npos) << message;
  EXPECT_NE(message.find(fmt::format("{:016x}", tokenizer_hash(*byte_tokenizer()))),
            std::string::npos)
      << message;
}

TEST(ShardSource, AShardChangedAfterItsManifestIsRefused) {
  const TemporaryFolder folder;
  write_small_shards(folder.path("s"), kDocuments, 8);
  folder.write("s/00001.tokens", "x");
  const auto message = error_of(ErrorCode::Data, [&] {
    open_token_source(folder.path("s"), *byte_tokenizer(), TokenDType::Auto, 257);
  });
  EXPECT_NE(message.find("00001.tokens"), std::string::npos) << message;
}

// Shards as a program leaves them that wrote no hashes of chunks.
void write_older_shards(const TemporaryFolder& folder) {
  ShardManifest manifest = write_small_shards(folder.path("s"), kDocuments, 8);
  for (ShardFile& shard : manifest.shards) {
    shard.hashes_hash.reset();
    std::filesystem::remove(folder.path("s/" + shard.name + ".hashes"));
  }
  write_manifest(*posix_storage(), folder.path("s"), manifest);
}

TEST(ShardSource, OlderShardsAreComparedAtOpenOrInTheBackground) {
  const TemporaryFolder folder;
  write_older_shards(folder);
  const auto open = [&](int64_t compared_here) {
    return open_shards(folder.path("s"), *byte_tokenizer(), compared_here);
  };
  EXPECT_GT(open(1'000)->content_cost(), 0);
  std::string tokens = read_text(*posix_storage(), folder.path("s/00001.tokens"));
  tokens[0] = static_cast<char>(tokens[0] ^ 1);
  folder.write("s/00001.tokens", tokens);
  EXPECT_NE(error_of(ErrorCode::Data, [&] { open(1'000); }).find("00001.tokens: the file changed"),
            std::string::npos);
  const auto source = open(0);
  Ids ids(5);
  source->read(0, ids);
  source->compare_in_background();
  const auto message = error_of(ErrorCode::Data, [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < end) source->read(0, ids);
  });
  EXPECT_NE(message.find("00001.tokens: the file changed"), std::string::npos) << message;
}

TEST(ShardSource, EndsOfDocumentsStandOnceEachInAnEpoch) {
  const TemporaryFolder folder;
  write_small_shards(folder.path("s"), kDocuments, 8);
  const auto source = open_token_source(folder.path("s"), *byte_tokenizer(), TokenDType::Auto, 257);
  const SampleStream stream = test::single_stream(*source, Packing::BestFit, 5, 1);
  Batch batch;
  Loader(stream, true).fill(0, stream.one_pass(), batch);
  EXPECT_EQ(std::count(batch.tokens.begin(), batch.tokens.end(), 256), 6);
  EXPECT_EQ(std::count(batch.targets.begin(), batch.targets.end(), 256), 6);
}

}  // namespace
}  // namespace ingot
