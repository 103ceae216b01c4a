#include <gtest/gtest.h>

#include "support/read_support.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::gzip;
using testing_support::read_all;
using testing_support::TemporaryFolder;
using Texts = std::vector<std::string>;
using Skipped = std::map<std::string, int64_t>;

TEST(ReadCsv, TheFirstLineNamesTheColumns) {
  const TemporaryFolder folder;
  const auto result = read_all(folder.write("a.csv",
                                            "\xEF\xBB\xBFid,url,\"text\",n\r\n"
                                            "x,http://a,plain text,1\r\n"
                                            "\r\n"
                                            ",,\"with, \"\"quotes\"\"\r\nand lines\",2\n"
                                            "z,,last,"));
  ASSERT_EQ(result.documents.size(), 3);
  EXPECT_EQ(result.documents[0].id, "x");
  EXPECT_EQ(result.documents[0].url, "http://a");
  EXPECT_EQ(result.documents[0].text, "plain text");
  EXPECT_EQ(result.documents[1].id, "a.csv:1");
  EXPECT_EQ(result.documents[1].text, "with, \"quotes\"\nand lines");
  EXPECT_EQ(result.documents[2].text, "last");
}

TEST(ReadCsv, TabsSeparateInTsv) {
  const TemporaryFolder folder;
  const auto result =
      read_all(folder.write("a.tsv.gz", gzip("a\ttext\n1\tone, two\n2\t\"tab\there\"\n")));
  EXPECT_EQ(result.texts(), (Texts{"one, two", "tab\there"}));
}

TEST(ReadCsv, TheTextMayBeTheOnlyOrTheLastColumn) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("a.csv", "text\r\none\r\n\r\ntwo\r\n")).texts(),
            (Texts{"one", "two"}));
  EXPECT_EQ(read_all(folder.write("b.csv", "n,text\r\n1,one\r\n2,two \"quoted\"\r\n")).texts(),
            (Texts{"one", "two \"quoted\""}));
}

TEST(ReadCsv, WhatIsNoDocumentIsCountedByReasonAndTheRestIsRead) {
  const TemporaryFolder folder;
  ReadSettings settings;
  settings.max_document_bytes = 10;
  const auto result = read_all(folder.write("a.csv",
                                            "text,n\n"
                                            "good,1\n"
                                            "too few\n"
                                            "too,many,fields\n"
                                            "\"quoted\"x,1\n"
                                            "12345678901,1\n"
                                            "\"12345\"\"678901\",1\n"
                                            ",1\n"
                                            "caf\xE9,1\n"
                                            "1234567890,1\n"),
                               settings);
  EXPECT_EQ(result.texts(), (Texts{"good", "1234567890"}));
  EXPECT_EQ(result.counts.skipped, (Skipped{{"wrong_columns", 2},
                                            {"invalid_csv", 1},
                                            {"too_large", 2},
                                            {"empty", 1},
                                            {"invalid_utf8", 1}}));
  EXPECT_EQ(result.documents[1].id, "a.csv:8");
}

TEST(ReadCsv, FieldsMayCrossEveryBuffer) {
  const TemporaryFolder folder;
  std::string contents = "text,n\n";
  Texts expected;
  // Sizes around the reader's chunk put its end at every place of a record.
  for (size_t size = 65'500; size < 65'550; ++size) {
    expected.push_back(std::string(size, 'x') + "\"\n,y");
    contents += "\"" + std::string(size, 'x') + "\"\"\r\n,y\",\"1\"\r\n";
  }
  const auto result = read_all(folder.write("a.csv", contents));
  EXPECT_TRUE(result.texts() == expected);
  EXPECT_TRUE(result.counts.skipped.empty());
}

TEST(ReadCsv, AMissingColumnAndAnOpenQuoteAreErrors) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& contents) {
    const std::string path = folder.write("a.csv", contents);
    return error_of(ErrorCode::Data, [&] { read_all(path); });
  };
  EXPECT_NE(refused("title,body\na,b\n").find("«title» «body»"), std::string::npos);
  EXPECT_NE(refused("").find("empty file"), std::string::npos);
  EXPECT_NE(refused("text" + std::string(20'000, ',')).find("10000 columns"), std::string::npos);
  EXPECT_NE(refused("text,n\na,1\n\"open,2\nx,3\n").find("line 3"), std::string::npos);
}

TEST(ReadCsv, ReadsAFileWithQuotedCommas) {
  const std::string path = testing_support::source_path("../shared/data/core/baselines_v1.csv");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  ReadSettings settings;
  settings.text_field = "Eval Task";
  const auto result = read_all(path, settings);
  EXPECT_EQ(result.counts.documents, 53);  // as Python's csv module has it
  EXPECT_TRUE(result.counts.skipped.empty());
}

}  // namespace
}  // namespace ingot
