#include <gtest/gtest.h>

#include <filesystem>

#include "support/read_support.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

std::vector<std::string> names(const std::vector<InputFile>& files) {
  std::vector<std::string> result;
  for (const auto& file : files) result.push_back(file.name);
  return result;
}
using Names = std::vector<std::string>;

TEST(InputFiles, AFileIsItself) {
  const TemporaryFolder folder;
  const auto files = list_input_files({folder.write("deep/a.jsonl", "12345")});
  ASSERT_EQ(files.size(), 1);
  EXPECT_EQ(files[0].name, "a.jsonl");
  EXPECT_EQ(files[0].location, folder.path("deep/a.jsonl"));
  EXPECT_EQ(files[0].bytes, 5);
}

TEST(InputFiles, AFolderIsItsDocumentFilesInByteOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"b.txt", "a/z.jsonl.gz", "B.md", "a.csv", ".hidden.txt", ".git/x.txt",
                           "LICENSE", "picture.png", "archive.gz"}) {
    folder.write(name, "x");
  }
  EXPECT_EQ(names(list_input_files({folder.path()})),
            (Names{"B.md", "a.csv", "a/z.jsonl.gz", "b.txt"}));
  EXPECT_EQ(names(list_input_files({folder.path() + "/"})).size(), 4);
}

TEST(InputFiles, PatternsMatchWithinANameAndAcrossFolders) {
  const TemporaryFolder folder;
  for (const char* name :
       {"2023/a.txt", "2024/a.txt", "2024/b.txt", "2024/x/c.txt", "top.txt", "2024/.hidden.txt"}) {
    folder.write(name, "x");
  }
  const auto matches = [&](const std::string& pattern) {
    return names(list_input_files({folder.path(pattern)}));
  };
  EXPECT_EQ(matches("*/a.txt"), (Names{"2023/a.txt", "2024/a.txt"}));
  EXPECT_EQ(matches("2024/*.txt"), (Names{"a.txt", "b.txt"}));
  EXPECT_EQ(matches("202?/[b-z].txt"), (Names{"2024/b.txt"}));
  EXPECT_EQ(matches("**/*.txt"),
            (Names{"2023/a.txt", "2024/a.txt", "2024/b.txt", "2024/x/c.txt", "top.txt"}));
  EXPECT_EQ(matches("2024/**"), (Names{"a.txt", "b.txt", "x/c.txt"}));
}

TEST(InputFiles, ANameWithAStarInItIsAFileFirst) {
  const TemporaryFolder folder;
  folder.write("a*.txt", "x");
  folder.write("ab.txt", "x");
  EXPECT_EQ(names(list_input_files({folder.path("a*.txt")})), Names{"a*.txt"});
}

TEST(InputFiles, EqualNamesOfTwoLocationsAreTold) {
  const TemporaryFolder folder;
  folder.write("x/a.txt", "1");
  folder.write("y/a.txt", "2");
  EXPECT_EQ(names(list_input_files({folder.path("y"), folder.path("x/a.txt")})),
            (Names{"0/a.txt", "1/a.txt"}));
}

TEST(InputFiles, WhatIsMissingOrNamedTwiceIsRefused) {
  const TemporaryFolder folder;
  folder.write("x/a.txt", "1");
  std::filesystem::create_directories(folder.path("empty"));
  const auto refused = [&](std::vector<std::string> locations) {
    return error_of(ErrorCode::Data, [&] { list_input_files(locations); });
  };
  EXPECT_NE(refused({folder.path("none.txt")}).find("none.txt: no such file"), std::string::npos);
  EXPECT_NE(refused({folder.path("empty")}).find("no documents in this folder"), std::string::npos);
  EXPECT_NE(refused({folder.path("*.csv")}).find("no file matches"), std::string::npos);
  EXPECT_NE(refused({folder.path("x"), folder.path("x/a.txt")}).find("named twice"),
            std::string::npos);
}

TEST(InputFiles, AnUnknownKindIsRefusedByName) {
  const TemporaryFolder folder;
  const auto files = list_input_files({folder.write("a.docx", "x")});
  const std::string error = error_of(ErrorCode::Data, [&] { open_documents(files[0], {}); });
  EXPECT_NE(error.find("a.docx"), std::string::npos);
  EXPECT_NE(error.find(".jsonl"), std::string::npos);
}

}  // namespace
}  // namespace ingot
