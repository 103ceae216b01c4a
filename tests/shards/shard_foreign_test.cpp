// Token files of other programs: there and back, and damage named.
#include <gtest/gtest.h>

#include "core/error/error.h"
#include "shards/foreign/import.h"
#include "shards/verify.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

using testing_support::error_of;
using testing_support::raw_bytes;
using testing_support::TemporaryFolder;

constexpr int64_t kVocab = 100'000;

using Documents = std::vector<std::vector<int32_t>>;

Documents documents_of(const ForeignTokens& tokens) {
  Documents documents(1);
  tokens.each_document([&](std::span<const int32_t> ids, bool last) {
    documents.back().insert(documents.back().end(), ids.begin(), ids.end());
    if (last) documents.emplace_back();
  });
  EXPECT_TRUE(documents.back().empty());
  documents.pop_back();
  return documents;
}

template <class T>
std::string number(T value) {
  return raw_bytes(std::vector<T>{value});
}

// As Megatron's IndexedDatasetBuilder writes it: sequences 0-1 are document 0, sequence 2 is 1.
std::string megatron_index(uint8_t type, int64_t width) {
  return std::string("MMIDIDX\0\0", 9) + number<uint64_t>(1) + number(type) + number<uint64_t>(3) +
         number<uint64_t>(3) + raw_bytes(std::vector<int32_t>{2, 1, 3}) +
         raw_bytes(std::vector<int64_t>{0, 2 * width, 3 * width}) +
         raw_bytes(std::vector<int64_t>{0, 2, 3});
}

std::string llmc_file(int32_t magic, int32_t version, int32_t count, const std::string& ids) {
  std::vector<int32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return raw_bytes(header) + ids;
}

TEST(ForeignTokens, MegatronDocumentsMayHoldSeveralSequences) {
  const TemporaryFolder folder;
  const Documents expected = {{7, 8, 9}, {1, 2, 300}};
  folder.write("a.bin", raw_bytes(std::vector<uint16_t>{7, 8, 9, 1, 2, 300}));
  folder.write("a.idx", megatron_index(8, 2));
  folder.write("b.bin", raw_bytes(std::vector<int32_t>{7, 8, 9, 1, 2, 300}));
  folder.write("b.idx", megatron_index(4, 4));
  for (const char* name : {"a.bin", "a.idx", "b.bin"}) {
    const auto tokens = open_foreign_tokens(folder.path(name), {}, kVocab);
    EXPECT_EQ(tokens->format(), ForeignFormat::Megatron);
    EXPECT_EQ(documents_of(*tokens), expected) << name;
  }
}

TEST(ForeignTokens, DatatroveIdsAreAsWideAsTheIndexSays) {
  const TemporaryFolder folder;
  folder.write("a.ds", raw_bytes(std::vector<uint16_t>{5, 6, 7}));
  folder.write("b.ds", raw_bytes(std::vector<uint32_t>{5, 6, 70'000}));
  for (const char* name : {"a.ds.index", "b.ds.index"}) {
    folder.write(name, raw_bytes(std::vector<uint64_t>{1, 3}));
  }
  EXPECT_EQ(documents_of(*open_foreign_tokens(folder.path("a.ds"), {}, kVocab)),
            (Documents{{5}, {6, 7}}));
  EXPECT_EQ(documents_of(*open_foreign_tokens(folder.path("b.ds.index"), {}, kVocab)),
            (Documents{{5}, {6, 70'000}}));
}

TEST(ForeignTokens, MarksCutFilesThatKnowNoDocuments) {
  const TemporaryFolder folder;
  const std::string ids = raw_bytes(std::vector<uint16_t>{9, 1, 2, 9, 3, 9});
  folder.write("nano.bin", ids);
  folder.write("llmc.bin", llmc_file(20240520, 1, 6, ids));
  folder.write("wide.bin", llmc_file(20240801, 7, 2, raw_bytes(std::vector<uint32_t>{9, 70'000})));
  for (const auto& [name, format] :
       {std::pair("nano.bin", ForeignFormat::NanoGpt), {"llmc.bin", ForeignFormat::LlmC}}) {
    const auto open = [&, name = name, format = format](DocumentMarks marks) {
      return documents_of(*open_foreign_tokens(folder.path(name), marks, kVocab, format));
    };
    EXPECT_EQ(open({}), (Documents{{9, 1, 2, 9, 3, 9}}));
    EXPECT_EQ(open({-1, 9}), (Documents{{9}, {1, 2, 9}, {3, 9}}));
    EXPECT_EQ(open({9, -1}), (Documents{{9, 1, 2}, {9, 3}, {9}}));
  }
  EXPECT_EQ(documents_of(*open_foreign_tokens(folder.path("wide.bin"), {}, kVocab)),
            (Documents{{9, 70'000}}));
}

// Documents that are longer than what is read at once.
TEST(ForeignTokens, LongDocumentsStayWhole) {
  const TemporaryFolder folder;
  Documents expected;
  std::vector<uint16_t> ids;
  for (const size_t length : {size_t{65'536}, size_t{65'535}, size_t{200'000}, size_t{1}}) {
    std::vector<int32_t>& document = expected.emplace_back(length, 3);
    document.back() = 9;
    ids.insert(ids.end(), document.begin(), document.end());
  }
  folder.write("a.bin", raw_bytes(ids));
  EXPECT_EQ(documents_of(*open_foreign_tokens(folder.path("a.bin"), {-1, 9}, kVocab,
                                              ForeignFormat::NanoGpt)),
            expected);
}

TEST(ForeignTokens, DamageIsNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path) {
    return error_of(ErrorCode::Data,
                    [&] { documents_of(*open_foreign_tokens(folder.path(path), {}, kVocab)); });
  };
  const std::string ids = raw_bytes(std::vector<uint16_t>{7, 8, 9, 1, 2, 3});
  const std::string good = megatron_index(8, 2);
  folder.write("m.bin", ids);
  for (size_t size = 1; size < good.size(); ++size) {
    folder.write("m.idx", good.substr(0, size));
    EXPECT_NE(refused("m.idx").find("m."), std::string::npos) << size;
  }
  folder.write("m.idx", megatron_index(7, 2));
  EXPECT_NE(refused("m.idx").find("code 7"), std::string::npos);
  folder.write("m.idx", good);
  folder.write("m.bin", ids.substr(2));
  EXPECT_NE(refused("m.idx").find("belong together"), std::string::npos);
  folder.write("m.bin", ids.substr(1));
  EXPECT_NE(refused("m.idx").find("truncated"), std::string::npos);

  folder.write("d.ds", ids);
  for (const std::vector<uint64_t>& ends :
       {std::vector<uint64_t>{5}, std::vector<uint64_t>{4, 2, 6}, std::vector<uint64_t>{9, 6}}) {
    folder.write("d.ds.index", raw_bytes(ends));
    EXPECT_NE(refused("d.ds").find("d.ds"), std::string::npos);
  }
  folder.write("l.bin", llmc_file(20240520, 1, 7, ids));
  EXPECT_NE(refused("l.bin").find("truncated"), std::string::npos);
  folder.write("l.bin", llmc_file(20240520, 2, 6, ids));
  EXPECT_NE(refused("l.bin").find("version 1"), std::string::npos);
  folder.write("l.bin", llmc_file(20240522, 1, 6, ids));
  EXPECT_NE(refused("l.bin").find("evaluation"), std::string::npos);
  folder.write("n.bin", ids);
  EXPECT_NE(refused("n.bin").find("n.idx"), std::string::npos);
  folder.write("n.idx", "no index");
  EXPECT_NE(refused("n.bin").find("not a Megatron index"), std::string::npos);
  folder.write("e.ds", ids);
  folder.write("e.ds.index", "");
  EXPECT_NE(refused("e.ds").find("e.ds.index"), std::string::npos);
  folder.write("n.bin", ids + "x");
  EXPECT_NE(
      error_of(
          ErrorCode::Data,
          [&] { open_foreign_tokens(folder.path("n.bin"), {}, kVocab, ForeignFormat::NanoGpt); })
          .find("truncated"),
      std::string::npos);
}

// Every format that is written gives the documents back.
TEST(ForeignTokens, ExportedAndImportedDocumentsAreTheSame) {
  const TemporaryFolder folder;
  for (const int64_t vocab : {300, 100'000}) {
    auto documents = some_documents(300, 60, vocab - 1);
    for (TokenDocument& document : documents) {
      document.ids.push_back(static_cast<int32_t>(vocab - 1));
    }
    const std::string name = std::to_string(vocab);
    write_shards(posix_storage(), folder.path(name), documents, 2'000, vocab);
    const ShardFolder shards(folder.path(name));
    for (const ForeignFormat format :
         {ForeignFormat::Megatron, ForeignFormat::NanoGpt, ForeignFormat::LlmC}) {
      const std::string out = folder.path(name + "-" + name_of(format));
      if (format == ForeignFormat::NanoGpt && vocab > 1 << 16) {
        error_of(ErrorCode::Config,
                 [&] { export_tokens(*posix_storage(), shards, format, out + "/x.bin"); });
        continue;
      }
      auto files = export_tokens(*posix_storage(), shards, format,
                                 out + (format == ForeignFormat::NanoGpt ? "/x.bin" : "/x"));
      if (format == ForeignFormat::Megatron) files.pop_back();
      ImportSettings settings;
      settings.format = format;
      settings.vocab_size = vocab;
      settings.marks.eos = static_cast<int32_t>(vocab - 1);
      const ShardManifest manifest =
          import_tokens(posix_storage(), files, settings, out + "/shards");
      ASSERT_EQ(manifest.num_documents(), 300) << name_of(format);
      EXPECT_TRUE(verify_shards(out + "/shards", manifest, 1, {}).empty());
      const ShardFolder imported(out + "/shards");
      for (int64_t i = 0; i < 300; ++i) ASSERT_EQ(imported.ids(i), shards.ids(i));
    }
  }
}

TEST(ForeignTokens, AnImportChecksItsMarksAndVocabulary) {
  const TemporaryFolder folder;
  folder.write("a.bin", raw_bytes(std::vector<uint16_t>{1, 2, 9, 3, 4}));
  ImportSettings settings;
  settings.format = ForeignFormat::NanoGpt;
  settings.vocab_size = 10;
  settings.marks.eos = 9;
  const auto import = [&](const std::string& out) {
    return import_tokens(posix_storage(), {folder.path("a.bin")}, settings, folder.path(out));
  };
  const ShardManifest manifest = import("out");
  EXPECT_EQ(manifest.cut_documents, std::vector<int64_t>{1});  // the file ends inside it
  EXPECT_TRUE(verify_shards(folder.path("out"), manifest, 1, {}).empty());
  EXPECT_NE(error_of(ErrorCode::Config, [&] { import("out"); }).find("finished"),
            std::string::npos);
  settings.vocab_size = 4;
  EXPECT_NE(error_of(ErrorCode::Data, [&] { import("small"); }).find("vocabulary of 4"),
            std::string::npos);
  settings.vocab_size = 10;
  settings.marks = {5, -1};
  EXPECT_NE(error_of(ErrorCode::Data, [&] { import("bos"); }).find("expected BOS 5"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot::test
