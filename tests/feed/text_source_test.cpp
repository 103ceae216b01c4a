#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "feed/open_source.h"
#include "support/files.h"
#include "support/source_path.h"
#include "tokenizer/llama2c_file.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

constexpr int32_t kEos = 256;
using Ids = std::vector<int32_t>;

std::unique_ptr<TokenSource> open_bytes(const std::string& path) {
  return open_token_source(path, *byte_tokenizer(), TokenDType::Auto, 257);
}

Ids read(const TokenSource& source, int64_t begin, int64_t end) {
  Ids ids(static_cast<size_t>(end - begin));
  source.read(begin, ids);
  return ids;
}

Ids bytes_then_eos(std::string_view text) {
  Ids ids = byte_tokenizer()->encode(text);
  ids.push_back(kEos);
  return ids;
}

TEST(TextSource, AFileIsItsBytesAndEos) {
  const TemporaryFolder folder;
  const auto source = open_bytes(folder.write("a.txt", "héllo\n"));
  EXPECT_EQ(source->num_tokens(), 8);
  EXPECT_EQ(read(*source, 0, 8), bytes_then_eos("héllo\n"));
  EXPECT_EQ(source->describe(), "1 text file, 7 B, 8 tokens (byte)");
}

TEST(TextSource, AFolderIsReadInNameOrderWithEosAfterEachFile) {
  const TemporaryFolder folder;
  folder.write("b.txt", "second");
  folder.write("a/z.txt", "first");
  folder.write("c.txt", "third");
  folder.write("ignored.png", "not text");
  folder.write("empty.txt", "");
  const auto source = open_bytes(folder.path());
  Ids expected;
  for (const char* text : {"first", "second", "third"}) {
    for (int32_t id : bytes_then_eos(text)) expected.push_back(id);
  }
  ASSERT_EQ(source->num_tokens(), static_cast<int64_t>(expected.size()));
  // Every window, so that every way of crossing a file's end is read.
  for (int64_t begin = 0; begin <= source->num_tokens(); ++begin) {
    for (int64_t end = begin; end <= source->num_tokens(); ++end) {
      EXPECT_EQ(read(*source, begin, end), Ids(expected.begin() + begin, expected.begin() + end));
    }
  }
  EXPECT_EQ(source->describe(), "3 text files, 16 B, 19 tokens (byte)");
}

TEST(TextSource, KnowsItsDocumentsAndCountsTextBytesOnly) {
  const TemporaryFolder folder;
  folder.write("1.txt", "abc");
  folder.write("2.txt", "de");
  const auto source = open_bytes(folder.path());  // a b c EOS d e EOS
  for (int64_t position = 0; position < 7; ++position) {
    EXPECT_EQ(source->document_start(position), position < 4 ? 0 : 4) << position;
  }
  const Ids is_byte{1, 1, 1, 0, 1, 1, 0};
  for (int64_t begin = 0; begin <= 7; ++begin) {
    int64_t expected = 0;
    for (int64_t end = begin; end <= 7; ++end) {
      EXPECT_EQ(source->num_bytes(begin, end), expected) << begin << " " << end;
      if (end < 7) expected += is_byte[end];
    }
  }
}

TEST(TextSource, OtherTokenizersEncodeAtOpenAndCountTheTextsBytes) {
  const TemporaryFolder folder;
  folder.write("1.txt", "abc a");
  folder.write("2.txt", "€");
  const auto tokenizer = parse_llama2c_tokenizer(testing_support::small_llama2c_file(), "small");
  const auto source = open_token_source(folder.path(), *tokenizer, TokenDType::Auto, 270);
  const Ids expected{259, 267, 266, 2, 259, 3 + 0xE2, 3 + 0x82, 3 + 0xAC, 2};
  ASSERT_EQ(source->num_tokens(), 9);
  EXPECT_EQ(read(*source, 0, 9), expected);
  EXPECT_EQ(source->document_start(3), 0);
  EXPECT_EQ(source->document_start(4), 4);
  EXPECT_EQ(source->num_bytes(0, 9), 8);  // without the space the tokenizer put before each text
  EXPECT_EQ(source->num_bytes(0, 4), 5);
  EXPECT_EQ(source->num_bytes(1, 4), 5);
  EXPECT_EQ(source->num_bytes(5, 7), 2);
  EXPECT_EQ(source->describe(), "2 text files, 8 B, 9 tokens (llama2c)");
}

TEST(TextSource, ASubrangeIsASourceOfItsOwn) {
  const TemporaryFolder folder;
  folder.write("1.txt", "abc");
  folder.write("2.txt", "def");
  const auto source = open_bytes(folder.path());  // a b c EOS d e f EOS
  const auto part = subrange(*source, 2, 6);
  EXPECT_EQ(part->num_tokens(), 4);
  EXPECT_EQ(read(*part, 0, 4), (Ids{'c', kEos, 'd', 'e'}));
  EXPECT_EQ(part->document_start(1), 0);
  EXPECT_EQ(part->document_start(2), 2);
  EXPECT_EQ(part->num_bytes(0, 4), 3);
  Ids beyond(5);
  EXPECT_THROW(part->read(0, beyond), Error);
  EXPECT_THROW(subrange(*source, 2, 9), Error);
}

TEST(TextSource, BadInputGivesOneClearLine) {
  const TemporaryFolder folder;
  const auto data_error = [](const std::string& path) {
    return error_of(ErrorCode::Data, [&] { open_bytes(path); });
  };
  EXPECT_NE(data_error(folder.path("missing.txt")).find("missing.txt: no such file"),
            std::string::npos);
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_NE(data_error(folder.path("pipe")).find("regular file"), std::string::npos);
  EXPECT_NE(data_error(folder.write("empty.txt", "")).find("empty"), std::string::npos);
  EXPECT_NE(data_error(folder.path()).find("no text in this folder"), std::string::npos);
  const std::string latin = folder.write("latin1.txt", std::string(1000, 'x') + "caf\xE9 noir");
  EXPECT_NE(data_error(latin).find("not UTF-8 at byte 1003"), std::string::npos);
  EXPECT_NE(data_error(folder.path()).find("latin1.txt"), std::string::npos);
}

TEST(TextSource, ACharacterMayStraddleTheCheckedChunks) {
  const TemporaryFolder folder;
  const size_t chunk = size_t{16} << 20;
  for (const size_t before : {chunk - 3, chunk - 2, chunk - 1}) {
    const std::string text = std::string(before, 'x') + "😀";
    EXPECT_EQ(open_bytes(folder.write("good.txt", text))->num_tokens(),
              static_cast<int64_t>(text.size()) + 1);
    const std::string cut = std::string(before, 'x') + "\xF0\x9F\x98";
    EXPECT_NE(error_of(ErrorCode::Data, [&] { open_bytes(folder.write("bad.txt", cut)); })
                  .find("byte " + std::to_string(before)),
              std::string::npos);
  }
}

TEST(TextSource, ReadsTheNovels) {
  const std::string path = testing_support::source_path("../shared/data/text/novels_en");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto source = open_bytes(path);
  int64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    bytes += static_cast<int64_t>(file.file_size());
  }
  EXPECT_EQ(source->num_bytes(0, source->num_tokens()), bytes);
  EXPECT_EQ(source->num_tokens(), bytes + 48);
}

}  // namespace
}  // namespace ingot
