#include <gtest/gtest.h>

#include "ingest/web_server.h"
#include "support/build_folder.h"
#include "support/read_support.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::read_all;
using testing_support::TemporaryFolder;
using testing_support::WebServer;
using Texts = std::vector<std::string>;
using Names = std::vector<std::string>;

class ReadS3 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(testing_support::build_folder() / "libingot_arrow.so")) {
      GTEST_SKIP() << "built without Arrow";
    }
    for (const char* name : {"x/a.jsonl", "x/b.jsonl", "x/deep/c.jsonl", "y.txt"}) {
      folder_.write(name, "{\"text\": \"" + std::string(name) + "\"}\n");
    }
    std::filesystem::copy(testing_support::source_path("tests/ingest/parquet/plain.parquet"),
                          folder_.path("plain.parquet"));
    settings_.remote.s3_endpoint = server_.root();
    settings_.remote.s3_anonymous = true;
    settings_.remote.s3_region = "us-east-1";
  }
  std::vector<InputFile> list(const std::string& address) {
    return list_input_files({address}, settings_.remote);
  }
  Names names(const std::string& address) {
    Names result;
    for (const auto& file : list(address)) result.push_back(file.name);
    return result;
  }

  TemporaryFolder folder_;
  WebServer server_{folder_.path()};
  ReadSettings settings_;
};

TEST_F(ReadS3, ObjectsAreListedAndRead) {
  EXPECT_EQ(names("s3://bucket/x"), (Names{"a.jsonl", "b.jsonl", "deep/c.jsonl"}));
  EXPECT_EQ(names("s3://bucket/x/*.jsonl"), (Names{"a.jsonl", "b.jsonl"}));
  EXPECT_EQ(names("s3://bucket/**/c.jsonl"), (Names{"x/deep/c.jsonl"}));
  const auto files = list("s3://bucket/x/a.jsonl");
  ASSERT_EQ(files.size(), 1);
  EXPECT_EQ(files[0].name, "a.jsonl");
  EXPECT_EQ(read_all(files[0], settings_).texts(), Texts{"x/a.jsonl"});
}

TEST_F(ReadS3, ParquetIsReadInPlace) {
  const auto result = read_all(list("s3://bucket/plain.parquet").at(0), settings_);
  EXPECT_EQ(result.documents.size(), 998);
}

TEST_F(ReadS3, WhatIsNotThereIsNamed) {
  error_of(ErrorCode::Data, [&] { list("s3://bucket/none/*.jsonl"); });
  const InputFile missing{"s3://bucket/none.jsonl", "none.jsonl", -1};
  const std::string error = error_of(ErrorCode::Storage, [&] { read_all(missing, settings_); });
  EXPECT_NE(error.find("s3://bucket/none.jsonl"), std::string::npos) << error;
}

}  // namespace
}  // namespace ingot
