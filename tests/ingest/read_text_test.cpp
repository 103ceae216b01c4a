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

// Larger than every buffer on the way, and compressible.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  return text;
}

TEST(ReadText, CrLfBecomesLfUnlessItIsKept) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.txt", "a\r\n\r\nb\rc\n\r\r\nd\r");
  EXPECT_EQ(read_all(path).texts(), std::vector<std::string>{"a\n\nb\rc\n\nd\r"});
  ReadSettings settings;
  settings.keep_crlf = true;
  EXPECT_EQ(read_all(path, settings).texts(), std::vector<std::string>{"a\r\n\r\nb\rc\n\r\r\nd\r"});
}

TEST(ReadText, AFileIsOneDocumentNamedAfterIt) {
  const TemporaryFolder folder;
  ReadSettings settings;
  settings.source = "books";
  const auto result = read_all(folder.write("a.txt", "\xEF\xBB\xBFh\xC3\xA9llo\r\n\0x"), settings);
  ASSERT_EQ(result.documents.size(), 1);
  EXPECT_EQ(result.documents[0].text, "h\xC3\xA9llo\n");
  EXPECT_EQ(result.documents[0].id, "a.txt");
  EXPECT_EQ(result.documents[0].source, "books");
  EXPECT_EQ(result.counts.documents, 1);
  EXPECT_EQ(result.counts.bytes, 7);
}

TEST(ReadText, NulBytesAreText) {
  const TemporaryFolder folder;
  const std::string text("a\0b", 3);
  EXPECT_EQ(read_all(folder.write("a.md", text)).texts(), Texts{text});
}

TEST(ReadText, WhatIsEmptyTooLargeOrNotUtf8IsCounted) {
  const TemporaryFolder folder;
  ReadSettings settings;
  settings.max_document_bytes = 10;
  const auto skipped = [&](const std::string& name, const std::string& contents) {
    const auto result = read_all(folder.write(name, contents), settings);
    EXPECT_TRUE(result.documents.empty());
    return result.counts.skipped;
  };
  EXPECT_EQ(skipped("empty.txt", ""), (Skipped{{"empty", 1}}));
  EXPECT_EQ(skipped("mark.txt", "\xEF\xBB\xBF"), (Skipped{{"empty", 1}}));
  EXPECT_EQ(skipped("long.txt", "12345678901"), (Skipped{{"too_large", 1}}));
  EXPECT_EQ(skipped("long.txt.gz", gzip("12345678901")), (Skipped{{"too_large", 1}}));
  EXPECT_EQ(skipped("latin.txt", "caf\xE9"), (Skipped{{"invalid_utf8", 1}}));
  EXPECT_EQ(read_all(folder.write("fits.txt",
                                  "\xEF\xBB\xBF"
                                  "1234567890"),
                     settings)
                .texts(),
            Texts{"1234567890"});
}

TEST(ReadText, CompressedFilesGiveTheSameText) {
  const TemporaryFolder folder;
  const std::string text = long_text();
  for (const auto& [name, bytes] :
       {std::pair{"a.txt", text}, {"a.txt.gz", gzip(text)}, {"a.txt.zst", zstd(text)}}) {
    const auto result = read_all(folder.write(name, bytes));
    ASSERT_EQ(result.documents.size(), 1) << name;
    EXPECT_TRUE(result.documents[0].text == text) << name;
    EXPECT_EQ(result.bytes_read, static_cast<int64_t>(bytes.size())) << name;
  }
}

TEST(ReadText, MembersThatFollowEachOtherAreOneText) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("a.txt.gz", gzip("one ") + gzip("") + gzip("two"))).texts(),
            Texts{"one two"});
  EXPECT_EQ(read_all(folder.write("a.txt.zst", zstd("one ") + zstd("") + zstd("two"))).texts(),
            Texts{"one two"});
}

TEST(ReadText, EveryTruncationOfACompressedFileIsAnError) {
  const TemporaryFolder folder;
  const std::string text = "some text that is long enough to have a body, a body, a body";
  for (const auto& [name, bytes] : {std::pair{"a.txt.gz", gzip(text)}, {"a.txt.zst", zstd(text)}}) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string path = folder.write(name, bytes.substr(0, size));
      const std::string error = error_of(ErrorCode::Data, [&] { read_all(path); });
      EXPECT_NE(error.find(name), std::string::npos) << error;
    }
  }
}

TEST(ReadText, DamageAndTrailingGarbageAreErrors) {
  const TemporaryFolder folder;
  std::string damaged_gzip = gzip(long_text());
  damaged_gzip[damaged_gzip.size() / 2] ^= 0x10;
  const auto refused = [&](const std::string& name, const std::string& bytes) {
    const std::string path = folder.write(name, bytes);
    return error_of(ErrorCode::Data, [&] { read_all(path); });
  };
  refused("a.txt.gz", damaged_gzip);
  EXPECT_NE(refused("b.txt.gz", "plain text").find("damaged gzip data at byte"), std::string::npos);
  EXPECT_NE(refused("b.txt.zst", "plain text").find("damaged zstd data at byte"),
            std::string::npos);
  refused("c.txt.gz", gzip("text") + "garbage");
  refused("c.txt.zst", zstd("text") + "garbage");
}

}  // namespace
}  // namespace ingot
