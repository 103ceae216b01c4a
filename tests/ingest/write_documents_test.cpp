#include "ingest/write/document_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/read_support.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::read_all;
using testing_support::TemporaryFolder;

std::vector<Document> some_documents(int count) {
  std::vector<Document> documents;
  for (int i = 0; i < count; ++i) {
    Document document{
        .id = "d" + std::to_string(i), .source = "s", .text = "", .url = "", .language = ""};
    for (int j = 0; j <= i % 200; ++j) document.text += "word \"" + std::to_string(i * j) + "\"\n";
    if (i % 3 == 0) document.url = "http://x/" + std::to_string(i);
    if (i % 5 == 0) document.language = "en";
    documents.push_back(document);
  }
  return documents;
}

TEST(WriteDocuments, ALineHasTheKnownFieldsInOrder) {
  const auto storage = memory_storage();
  const auto writer = create_documents(storage, "a.jsonl");
  writer->write(
      {.id = "1", .source = "web", .text = "a\"\\\n\t\r\x01 \xC3\xA9", .url = "", .language = ""});
  writer->write({.id = "2", .source = "web", .text = "", .url = "u", .language = "en"});
  writer->commit();
  EXPECT_EQ(read_text(*storage, "a.jsonl"),
            "{\"id\":\"1\",\"source\":\"web\",\"text\":\"a\\\"\\\\\\n\\t\\r\\u0001 \xC3\xA9\"}\n"
            "{\"id\":\"2\",\"source\":\"web\",\"text\":\"\",\"url\":\"u\",\"language\":\"en\"}\n");
}

TEST(WriteDocuments, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const auto documents = some_documents(1'500);
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"}) {
    const auto writer = create_documents(posix_storage(), folder.path(name));
    for (const auto& document : documents) writer->write(document);
    writer->commit();
    const auto result = read_all(folder.path(name));
    ASSERT_EQ(result.documents.size(), documents.size()) << name;
    for (size_t i = 0; i < documents.size(); ++i) {
      EXPECT_EQ(result.documents[i].id, documents[i].id);
      EXPECT_EQ(result.documents[i].text, documents[i].text);
      EXPECT_EQ(result.documents[i].url, documents[i].url);
    }
  }
}

TEST(WriteDocuments, TheBytesDependOnTheDocumentsAlone) {
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"}) {
    const auto storage = memory_storage();
    std::string first;
    for (int time = 0; time < 2; ++time) {
      const auto writer = create_documents(storage, name);
      for (const auto& document : some_documents(1'500)) writer->write(document);
      writer->commit();
      const std::string bytes = read_text(*storage, name);
      EXPECT_TRUE(first.empty() || bytes == first) << name;
      first = bytes;
    }
  }
  // The gzip header carries neither time nor system.
  const auto storage = memory_storage();
  create_documents(storage, "e.jsonl.gz")->commit();
  EXPECT_EQ(read_text(*storage, "e.jsonl.gz").substr(0, 10),
            std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
}

TEST(WriteDocuments, WithoutCommitThereIsNoFile) {
  const auto storage = memory_storage();
  {
    const auto writer = create_documents(storage, "a.jsonl.zst");
    for (const auto& document : some_documents(10)) writer->write(document);
  }
  EXPECT_FALSE(storage->exists("a.jsonl.zst"));
  EXPECT_FALSE(storage->exists("a.jsonl.zst.tmp"));
}

TEST(WriteDocuments, APowerCutLeavesTheWholeFileOrNone) {
  std::string whole;
  for (int64_t operations = 0; operations < 12; ++operations) {
    const auto base = memory_storage();
    const auto storage = faulty_storage(
        base, {.operations_before_cut = operations, .forget_unsynced_entries = true});
    bool committed = false;
    try {
      const auto writer = create_documents(storage, "a.jsonl");
      for (const auto& document : some_documents(100)) writer->write(document);
      writer->commit();
      committed = true;
    } catch (const Error&) {
    }
    if (base->exists("a.jsonl")) {
      const std::string text = read_text(*base, "a.jsonl");
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100) << operations;
    } else {
      EXPECT_FALSE(committed) << operations;
    }
  }
}

TEST(WriteDocuments, TextThatIsNotUtf8AndOtherNamesAreRefused) {
  const auto storage = memory_storage();
  const auto writer = create_documents(storage, "a.jsonl");
  const Document bad{.id = "7", .source = "s", .text = "ab\xFF", .url = "", .language = ""};
  const std::string error = error_of(ErrorCode::Data, [&] { writer->write(bad); });
  EXPECT_NE(error.find("«7»"), std::string::npos) << error;
  EXPECT_NE(error.find("byte 2"), std::string::npos) << error;
  error_of(ErrorCode::Usage, [&] { create_documents(storage, "a.txt"); });
}

}  // namespace
}  // namespace ingot
