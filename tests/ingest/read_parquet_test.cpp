#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <regex>

#include "support/build_folder.h"
#include "support/read_support.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::read_all;
using testing_support::TemporaryFolder;
using Texts = std::vector<std::string>;
using Skipped = std::map<std::string, int64_t>;

const std::string kSamples = testing_support::source_path("tests/ingest/parquet/");

// A build without Arrow has no module; what it then says is tested in tests/cli.
class ReadParquet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(testing_support::build_folder() / "libingot_arrow.so")) {
      GTEST_SKIP() << "built without Arrow";
    }
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ReadParquet, RowsAreDocumentsInOrder) {
  const auto result = read_all(kSamples + "plain.parquet");
  ASSERT_EQ(result.documents.size(), 998);
  EXPECT_EQ(result.counts.skipped, (Skipped{{"no_text", 1}, {"empty", 1}}));
  EXPECT_EQ(result.documents[0].id, "id-0");
  EXPECT_EQ(result.documents[0].url, "");
  EXPECT_EQ(result.documents[7].id, "id-9");
  EXPECT_EQ(result.documents[7].url, "https://example.org/9");
  EXPECT_EQ(result.documents[997].text, "document 999 with some words, é and 漢字");
  EXPECT_EQ(result.bytes_read,
            static_cast<int64_t>(std::filesystem::file_size(kSamples + "plain.parquet")));
}

TEST_F(ReadParquet, StringsOfEveryKindAreRead) {
  const auto categories = read_all(kSamples + "categories.parquet");
  EXPECT_EQ(categories.texts(), (Texts{"a", "b", "a", "b", "c"}));
  EXPECT_EQ(categories.documents[4].id, "4");
  const auto large = read_all(kSamples + "large.parquet");
  EXPECT_EQ(large.texts(), (Texts{"one", "two"}));
  EXPECT_EQ(large.documents[1].id, "6");
  const auto binary = read_all(kSamples + "binary.parquet");
  EXPECT_EQ(binary.texts(), Texts{"text"});
  EXPECT_EQ(binary.documents[0].id, "binary.parquet:0");
  EXPECT_EQ(binary.counts.skipped, (Skipped{{"invalid_utf8", 1}}));
  EXPECT_EQ(read_all(kSamples + "empty.parquet").texts(), Texts{});
}

TEST_F(ReadParquet, AColumnThatIsMissingOrNotAStringIsNamed) {
  ReadSettings settings;
  settings.text_field = "body";
  const auto refused = [&](const std::string& name) {
    return error_of(ErrorCode::Data, [&] { read_all(kSamples + name, settings); });
  };
  EXPECT_NE(
      refused("plain.parquet").find("no column «body»; columns of strings: «text» «id» «url»"),
      std::string::npos);
  settings.text_field = "n";
  EXPECT_NE(refused("plain.parquet").find("«n» is int64, not a string"), std::string::npos);
  settings.text_field = "text";
  EXPECT_NE(refused("lists.parquet").find("columns of strings: «title»"), std::string::npos);
}

TEST_F(ReadParquet, WhatWouldTakeMoreMemoryThanAllowedIsRefused) {
  ReadSettings settings;
  settings.max_document_bytes = 1 << 20;
  const std::string error =
      error_of(ErrorCode::Data, [&] { read_all(kSamples + "bomb.parquet", settings); });
  EXPECT_NE(error.find("memory"), std::string::npos) << error;
}

TEST_F(ReadParquet, TruncationAndDamageAreErrorsOrNothingChanges) {
  const TemporaryFolder folder;
  const std::string bytes = bytes_of(kSamples + "plain.parquet");
  const auto expected = read_all(kSamples + "plain.parquet").texts();
  for (size_t size = 0; size < bytes.size(); size += 997) {
    const std::string path = folder.write("cut.parquet", bytes.substr(0, size));
    const std::string error = error_of(ErrorCode::Data, [&] { read_all(path); });
    EXPECT_NE(error.find("cut.parquet"), std::string::npos) << error;
  }
  // Every page has a checksum, so a flipped bit in one cannot pass for text. The footer has none.
  uint32_t footer_bytes = 0;
  std::memcpy(&footer_bytes, bytes.data() + bytes.size() - 8, sizeof footer_bytes);
  const size_t footer = bytes.size() - 8 - footer_bytes;
  for (size_t at = 4; at < footer; at += 211) {
    std::string damaged = bytes;
    damaged[at] ^= 0x04;
    const std::string path = folder.write("damaged.parquet", damaged);
    try {
      EXPECT_EQ(read_all(path).texts(), expected) << "byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data) << error.what();
    }
  }
}

// The string columns that an error names.
Texts string_columns(const std::string& path) {
  ReadSettings settings;
  settings.text_field = "no such column";
  std::string error;
  try {
    open_documents(list_input_files({path}).at(0), settings);
  } catch (const Error& caught) {
    error = caught.what();
  }
  const size_t list = error.find("columns of strings:");
  if (list == std::string::npos) return {};
  Texts names;
  const std::regex name("«(.*?)»");
  for (std::sregex_iterator
           it(error.begin() + static_cast<std::ptrdiff_t>(list), error.end(), name),
       end;
       it != end; ++it) {
    names.push_back((*it)[1]);
  }
  return names;
}

TEST_F(ReadParquet, ReadsOrRefusesTheFilesOfParquetTesting) {
  const std::string folder = testing_support::source_path("../shared/data/parquet");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  ReadCounts counts;
  int64_t num_files = 0, num_columns = 0;
  Texts refused;
  for (const auto& file : list_input_files({folder})) {
    ++num_files;
    for (const auto& column : string_columns(file.location)) {
      ReadSettings settings;
      settings.text_field = column;
      settings.max_document_bytes = 16 << 20;
      try {
        counts += read_all(file, settings).counts;
        ++num_columns;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Data) << error.what();
        refused.push_back(error.what());
      }
    }
  }
  EXPECT_EQ(num_files, 73);
  // What pyarrow 26 reads of the same files, counted in Python.
  EXPECT_EQ(num_columns, 75);
  EXPECT_EQ(counts.documents, 47'597);
  EXPECT_EQ(counts.bytes, 1'018'491);
  int64_t records = counts.documents;
  for (const auto& [reason, count] : counts.skipped) records += count;
  EXPECT_EQ(records, 50'521);
  ASSERT_EQ(refused.size(), 1);
  EXPECT_NE(refused[0].find("rle-dict-uncompressed-corrupt-checksum.parquet"), std::string::npos);
  EXPECT_NE(refused[0].find("damaged"), std::string::npos);
}

TEST_F(ReadParquet, AMapThatWouldFillTheMemoryIsRefused) {
  const std::string path =
      testing_support::source_path("../shared/data/parquet/large_string_map.brotli.parquet");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  ReadSettings settings;
  settings.text_field = "arr";
  EXPECT_NE(error_of(ErrorCode::Data, [&] { read_all(path, settings); }).find("not a string"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
