#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/read_support.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::gzip;
using testing_support::read_all;
using testing_support::TemporaryFolder;
using testing_support::zstd;
using Texts = std::vector<std::string>;
using Skipped = std::map<std::string, int64_t>;

TEST(ReadJson, ALineIsADocument) {
  const TemporaryFolder folder;
  const auto result =
      read_all(folder.write("a.jsonl",
                            "\xEF\xBB\xBF{\"id\": \"x\", \"text\": \"one\", \"url\": "
                            "\"http://a.b/c\", \"n\": [1, {\"text\": 2}]}\r\n"
                            "\n"
                            "{\"text\": \"t\\u0000\\n\\ud83d\\ude00\\u00e9\", \"id\": 17}\n"
                            "{\"te\\u0078t\":\"escaped key\",\"id\":null}"));
  ASSERT_EQ(result.documents.size(), 3);
  EXPECT_EQ(result.documents[0].id, "x");
  EXPECT_EQ(result.documents[0].url, "http://a.b/c");
  EXPECT_EQ(result.documents[0].text, "one");
  EXPECT_EQ(result.documents[1].id, "17");
  EXPECT_EQ(result.documents[1].url, "");
  EXPECT_EQ(result.documents[1].text, std::string("t\0\n\xF0\x9F\x98\x80\xC3\xA9", 9));
  EXPECT_EQ(result.documents[2].id, "a.jsonl:2");
  EXPECT_EQ(result.documents[2].text, "escaped key");
  EXPECT_EQ(result.counts.documents, 3);
  EXPECT_TRUE(result.counts.skipped.empty());
}

TEST(ReadJson, TheFieldsAreTheUsersChoice) {
  const TemporaryFolder folder;
  ReadSettings settings;
  settings.text_field = "content";
  settings.id_field = "uuid";
  settings.url_field = "link";
  const auto result = read_all(
      folder.write("a.ndjson",
                   R"({"content": "c", "uuid": "u", "link": "l", "text": "t", "id": "i"})"),
      settings);
  ASSERT_EQ(result.documents.size(), 1);
  EXPECT_EQ(result.documents[0].text, "c");
  EXPECT_EQ(result.documents[0].id, "u");
  EXPECT_EQ(result.documents[0].url, "l");
}

TEST(ReadJson, WhatIsNoDocumentIsCountedByReasonAndTheRestIsRead) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"{\"text\": \"good\"}", ""},
      {"{\"text\": \"\"}", "empty"},
      {"{\"other\": 1}", "no_text"},
      {"{\"text\": null}", "no_text"},
      {"{\"text\": 5}", "not_a_string"},
      {"{\"text\": [\"a\"]}", "not_a_string"},
      {"{\"text\": \"a\", \"text\": \"b\"}", "repeated_field"},
      {"{\"text\": \"a\", \"text\": \"a\"}", "repeated_field"},
      {"{\"text\": null, \"te\\u0078t\": \"a\"}", "repeated_field"},
      {"{\"id\": 1, \"text\": \"a\", \"id\": 2}", "repeated_field"},
      {"{\"text\": \"a\", \"text\": \"b\"", "invalid_json"},
      {"[1, 2]", "not_an_object"},
      {"\"text\"", "not_an_object"},
      {"{\"text\": \"cut", "invalid_json"},
      {"{\"text\": \"a\"} x", "invalid_json"},
      {"{\"text\": \"a\",}", "invalid_json"},
      {"{\"text\": \"a\", \"n\": 01}", "invalid_json"},
      {"{\"text\": \"a\tb\"}", "invalid_json"},
      {"{\"text\": \"\\x\"}", "invalid_json"},
      {"plain", "invalid_json"},
      {std::string("{\"text\": \"a\0b\"}", 15), "invalid_json"},
      {std::string(100'000, '['), "invalid_json"},
      {"{\"text\": \"caf\xE9\"}", "invalid_utf8"},
      {"{\"text\": \"\\ud800\"}", "invalid_utf8"},
      {"{\"text\": \"\\ude00 \\ud83d\"}", "invalid_utf8"},
      {"{\"text\": \"12345678901\"}", "too_large"},
      {"{\"text\": \"a\", \"other\": \"" + std::string(2 << 20, 'x') + "\"}", "too_large"},
      {"{\"other\": 1, \"text\": \"also good\", \"other\": \"\\ud800\", \"n\": {\"text\": 1}}", ""},
  };
  std::string contents;
  Skipped expected;
  for (const auto& [line, reason] : lines) {
    contents += line + "\n";
    if (!reason.empty()) ++expected[reason];
  }
  ReadSettings settings;
  settings.max_document_bytes = 10;
  const auto result = read_all(folder.write("a.jsonl", contents), settings);
  EXPECT_EQ(result.texts(), (Texts{"good", "also good"}));
  EXPECT_EQ(result.counts.skipped, expected);
  EXPECT_EQ(result.documents[1].id, "a.jsonl:27");  // numbers count every record
}

TEST(ReadJson, LinesOfAHundredMegabytesAreRead) {
  const TemporaryFolder folder;
  const std::string text(100'000'000, 'x');
  const auto result =
      read_all(folder.write("a.jsonl", "{\"text\":\"" + text + "\"}\n{\"text\":\"short\"}\n"));
  ASSERT_EQ(result.documents.size(), 2);
  EXPECT_TRUE(result.documents[0].text == text);
  EXPECT_EQ(result.documents[1].text, "short");
}

TEST(ReadJson, CompressedLinesAreTheSame) {
  const TemporaryFolder folder;
  std::string contents;
  for (int i = 0; i < 50'000; ++i) contents += fmt::format("{{\"text\": \"number {}\"}}\n", i);
  for (const auto& [name, bytes] : {std::pair{"a.jsonl", contents},
                                    {"a.jsonl.gz", gzip(contents)},
                                    {"a.JSONL.zst", zstd(contents)}}) {
    const auto result = read_all(folder.write(name, bytes));
    ASSERT_EQ(result.documents.size(), 50'000) << name;
    EXPECT_EQ(result.documents[49'999].text, "number 49999") << name;
  }
}

TEST(ReadJson, AnArrayIsItsElements) {
  const TemporaryFolder folder;
  const auto texts = [&](const std::string& contents) {
    return read_all(folder.write("a.json", contents)).texts();
  };
  EXPECT_EQ(
      texts("\xEF\xBB\xBF \n[ {\"text\": \"a]},\\\"[\"},\n{\"x\": [1, {}], \"text\": \"b\"} ]\n"),
      (Texts{"a]},\"[", "b"}));
  EXPECT_EQ(texts("[]"), Texts{});
  EXPECT_EQ(texts("{\"text\": \"a line\"}\n{\"text\": \"another\"}"), (Texts{"a line", "another"}));
  const auto result =
      read_all(folder.write("b.json", "[{\"text\": \"a\"}, 5, x, , {\"text\": \"b\"},]"));
  EXPECT_EQ(result.texts(), (Texts{"a", "b"}));
  EXPECT_EQ(
      result.counts.skipped,
      (Skipped{{"not_an_object", 1}, {"invalid_json", 1}}));  // nothing between commas is no record
}

TEST(ReadJson, AnArrayThatDoesNotEndIsAnError) {
  const TemporaryFolder folder;
  for (const char* contents :
       {"[", "[{\"text\": \"a\"}", "[{\"text\": \"a\"},", "[\"]", "[1] [2]", "[[1]"}) {
    const std::string path = folder.write("a.json", contents);
    error_of(ErrorCode::Data, [&] { read_all(path); });
  }
}

TEST(ReadJson, DocumentsBeforeTheDamageAreGiven) {
  const TemporaryFolder folder;
  std::string contents;
  for (int i = 0; i < 50'000; ++i) contents += fmt::format("{{\"text\": \"number {}\"}}\n", i);
  const std::string bytes = gzip(contents);
  const auto files =
      list_input_files({folder.write("a.jsonl.gz", bytes.substr(0, bytes.size() - 9))});
  const auto reader = open_documents(files[0], {});
  int64_t given = 0;
  const std::string error = error_of(ErrorCode::Data, [&] {
    for (Document document; reader->next(document);) ++given;
  });
  EXPECT_NE(error.find("cut short"), std::string::npos) << error;
  EXPECT_GT(given, 30'000);
}

}  // namespace
}  // namespace ingot
