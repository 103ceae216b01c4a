// Shards: what is written is read back, and nothing else is taken for it.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error/error.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing_support::error_of;
using testing_support::TemporaryFolder;

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nexpected: " << part;
}

std::string read_bytes(const std::string& path) {
  return read_text(*posix_storage(), path);
}

void expect_equal(const std::string& folder, const ShardManifest& manifest,
                  const std::vector<TokenDocument>& documents) {
  size_t next = 0;
  for (size_t shard = 0; shard < manifest.shards.size(); ++shard) {
    const ShardReader reader(folder, manifest, shard);
    reader.check_hashes(manifest.shards[shard]);
    for (int64_t i = 0; i < reader.num_documents(); ++i) {
      ASSERT_LT(next, documents.size());
      const TokenDocument& expected = documents[next++];
      const int64_t begin = reader.document_begin(i), end = reader.document_end(i);
      std::vector<int32_t> ids(static_cast<size_t>(end - begin));
      reader.tokens(begin, ids);
      ASSERT_EQ(ids, expected.ids);
      ASSERT_EQ(reader.document_of(begin), i);
      ASSERT_EQ(reader.document_of(end - 1), i);
      const DocumentName name = reader.name(i);
      ASSERT_EQ(name.source, expected.source);
      ASSERT_EQ(name.id, expected.name);
      ASSERT_EQ(reader.id(i),
                document_id(manifest.sources[static_cast<size_t>(name.source)].name, name.id));
      ASSERT_EQ(reader.num_bytes(i), static_cast<int64_t>(4 * ids.size()));
    }
  }
  EXPECT_EQ(next, documents.size());
}

TEST(Shards, DocumentsComeBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  for (const int64_t vocab : {300, 1 << 16, (1 << 16) + 1, 1 << 20}) {
    const auto documents = some_documents(10'000, 20, vocab);  // three frames of names a shard
    const ShardManifest written =
        write_shards(posix_storage(), folder.path(), documents, 1'000'000, vocab);
    const ShardManifest manifest = read_manifest(*posix_storage(), folder.path());
    EXPECT_EQ(to_json(manifest), to_json(written));
    EXPECT_EQ(manifest.token_bytes, vocab <= 1 << 16 ? 2 : 4);
    expect_equal(folder.path(), manifest, documents);
  }
}

TEST(Shards, AShardEndsWithTheDocumentThatFillsIt) {
  const TemporaryFolder folder;
  const auto documents = some_documents(2'000, 50, 300);
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 1'000, 300);
  EXPECT_GT(manifest.shards.size(), 30u);
  for (size_t i = 0; i + 1 < manifest.shards.size(); ++i) {
    EXPECT_GE(manifest.shards[i].num_tokens, 1'000);
    EXPECT_LT(manifest.shards[i].num_tokens, 1'050);
  }
  expect_equal(folder.path(), manifest, documents);
}

TEST(Shards, NamesMayHoldAnything) {
  const TemporaryFolder folder;
  std::vector<TokenDocument> documents = some_documents(6, 3, 300);
  documents[0].name = "two\nlines";
  documents[1].name = "a\\n\\\\b\\";
  documents[2].name = "";
  documents[3].name = "tab\there";
  documents[4].name = std::string("nul\0inside", 10);
  documents[5].name = std::string(kMaxNameBytes, '\n');
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), documents, 1'000, 300);
  expect_equal(folder.path(), manifest, documents);
}

// The digits are Python's xxhash.xxh3_128(b'web\0doc-1').hexdigest().
TEST(DocumentIds, AreXxh3OfSourceAndId) {
  EXPECT_EQ(to_hex(document_id("web", "doc-1")), "be4aafd15ddf4dcd4322e39170bf135a");
  DocumentId id;
  ASSERT_TRUE(parse_document_id(to_hex(document_id("web", "doc-1")), id));
  EXPECT_EQ(id, document_id("web", "doc-1"));
  EXPECT_NE(document_id("web", "doc-1"), document_id("webd", "oc-1"));
  EXPECT_FALSE(parse_document_id("12", id));
  EXPECT_FALSE(parse_document_id(std::string(32, 'g'), id));
}

TEST(Shards, WithoutAManifestAFolderIsNotRead) {
  const TemporaryFolder folder;
  write_shards(posix_storage(), folder.path(), some_documents(9, 9, 300), 1'000, 300);
  fs::remove(folder.path("manifest.json"));
  expect_part(error_of(ErrorCode::Data, [&] { read_manifest(*posix_storage(), folder.path()); }),
              "no manifest.json");
}

TEST(Shards, ChangedFilesAreNamed) {
  const TemporaryFolder folder;
  const ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), some_documents(90, 90, 300), 1'000'000, 300);
  for (const char* name : {"00000.tokens", "00000.documents", "00000.names", "00000.hashes"}) {
    const std::string whole = read_bytes(folder.path(name));
    const auto with = [&](const std::string& contents) {
      folder.write(name, contents);
      const std::string message = error_of(ErrorCode::Data, [&] {
        ShardReader(folder.path(), manifest, 0).check_hashes(manifest.shards[0]);
      });
      folder.write(name, whole);
      return message;
    };
    std::string flipped = whole;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    expect_part(with(flipped), std::string(name) + ": ");
    expect_part(with(flipped), "changed after");
    expect_part(with(whole.substr(0, whole.size() - 1)), name);
    expect_part(with(whole + "x"), name);
    expect_part(with(""), name);
  }
  fs::remove(folder.path("00000.names"));
  expect_part(error_of(ErrorCode::Data, [&] { ShardReader(folder.path(), manifest, 0); }),
              "00000.names");
}

// Of a shard without hashes, which know every change.
TEST(Shards, OffsetsThatLeadNowhereThrow) {
  const TemporaryFolder folder;
  ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), some_documents(90, 90, 300), 1'000'000, 300);
  manifest.shards[0].hashes_hash.reset();
  std::string documents = read_bytes(folder.path("00000.documents"));
  documents[10 * sizeof(DocumentRecord) + 7] = 1;  // the end of document 10, far away
  folder.write("00000.documents", documents);
  const ShardReader reader(folder.path(), manifest, 0);
  expect_part(error_of(ErrorCode::Data, [&] { reader.document_end(10); }), "document 10 ends at");
  expect_part(error_of(ErrorCode::Data, [&] { reader.document_begin(11); }), "document 10 ends at");
  std::vector<int32_t> ids(10);
  expect_part(error_of(ErrorCode::Data, [&] { reader.tokens(reader.num_tokens() - 9, ids); }),
              "no tokens");
}

TEST(Shards, IdsOutsideTheVocabularyThrow) {
  const TemporaryFolder folder;
  ShardManifest manifest =
      write_shards(posix_storage(), folder.path(), some_documents(9, 90, 300), 1'000'000, 300);
  manifest.vocab_size = 100;
  const ShardReader reader(folder.path(), manifest, 0);
  std::vector<int32_t> ids(static_cast<size_t>(reader.num_tokens()));
  expect_part(error_of(ErrorCode::Data, [&] { reader.tokens(0, ids); }),
              "below the vocabulary of 100");
}

// Cut at every write: then there is no manifest, or a whole folder.
TEST(ShardFaults, APowerCutLeavesNoManifestOrAWholeFolder) {
  const auto documents = some_documents(300, 30, 300);
  const auto whole = memory_storage();
  write_shards(whole, "out", documents, 1'000, 300);
  bool finished = false;
  for (int64_t operations = 1; !finished; ++operations) {
    const auto disk = memory_storage();
    try {
      write_shards(faulty_storage(disk, {operations, true}), "out", documents, 1'000, 300);
      finished = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Storage);
    }
    // Begun again, it is as if nothing had happened.
    if (!disk->exists("out/manifest.json")) write_shards(disk, "out", documents, 1'000, 300);
    ASSERT_EQ(disk->list("out"), whole->list("out"));
    for (const std::string& name : whole->list("out")) {
      ASSERT_EQ(read_text(*disk, "out/" + name), read_text(*whole, "out/" + name)) << name;
    }
  }
}

TEST(ShardManifests, WrongOnesAreRefusedByKey) {
  ShardManifest good = manifest_for(300);
  good.sources[0] = {"web", 2, 30, 100};
  good.shards = {{"00000", 10, 1, 1, 2, 3}, {"00001", 20, 1, 4, 5, 6}};
  good.cut_documents = {1};
  good.left_out = {{"empty", 3}};
  const std::string text = to_json(good);
  EXPECT_EQ(to_json(parse_manifest(text, "m")), text);
  struct Case {
    std::string from, to, expect;
  };
  const std::vector<Case> cases = {
      {"\"version\": 1", "\"version\": 2", "version"},
      {"\"version\": 1,", "", "version is missing"},
      {"\"token_bytes\": 2", "\"token_bytes\": 3", "token_bytes"},
      {"\"vocab_size\": 300", "\"vocab_size\": 70000", "vocab_size"},
      {"\"bos\": -1", "\"bos\": 300", "bos"},
      {"\"eos\": -1", "\"eos\": \"x\"", "eos"},
      {"\"tokenizer_hash\": \"0", "\"tokenizer_hash\": \"x", "tokenizer_hash"},
      {"\"name\": \"00001\"", "\"name\": \"../x\"", "name"},
      {"\"name\": \"00001\"", "\"name\": \"00000\"", "listed twice"},
      {"\"num_tokens\": 20", "\"num_tokens\": 21", "31 tokens, the sources 30"},
      {"\"num_documents\": 2", "\"num_documents\": 3", "documents"},
      {"\"num_tokens\": 20", "\"num_tokens\": 0", "shards[1].num_tokens"},
      {"\"num_tokens\": 20", "\"num_tokens\": 1e30", "shards[1].num_tokens"},
      {"\"num_tokens\": 20", "\"num_tokens\": 18446744073709551615", "shards[1].num_tokens"},
      {"    1\n", "    2\n", "cut_documents"},
      {"\"empty\": 3", "\"empty\": -3", "left_out.empty"},
      {"\"duplicate_ids\": 0", "\"duplicate_ids\": null", "duplicate_ids"},
      {"{", "[", "not JSON"},
  };
  for (const Case& bad : cases) {
    std::string changed = text;
    const size_t at = changed.find(bad.from);
    ASSERT_NE(at, std::string::npos) << bad.from;
    changed.replace(at, bad.from.size(), bad.to);
    try {
      parse_manifest(changed, "m");
      ADD_FAILURE() << bad.to;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      expect_part(error.what(), bad.expect);
    }
  }
}

}  // namespace
}  // namespace ingot::test
