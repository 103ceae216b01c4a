#include <gtest/gtest.h>

#include <unistd.h>

#include "core/random/random.h"
#include "feed/open_source.h"
#include "support/files.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::raw_bytes;
using testing_support::TemporaryFolder;

using Ids = std::vector<int32_t>;

std::unique_ptr<TokenSource> open(const std::string& path, TokenDType dtype, int64_t vocab) {
  return open_token_source(path, *byte_tokenizer(), dtype, vocab);
}

Ids read_all(const TokenSource& source) {
  Ids ids(static_cast<size_t>(source.num_tokens()));
  source.read(0, ids);
  return ids;
}

Ids random_ids(size_t count, uint32_t vocab) {
  const RandomStream random(5, Purpose::Test);
  Ids ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = static_cast<int32_t>(random.bits(i) % vocab);
  return ids;
}

template <class T>
std::string as(const Ids& ids) {
  return raw_bytes(std::vector<T>(ids.begin(), ids.end()));
}

std::string with_header(int32_t magic, int32_t version, int32_t count, const std::string& ids) {
  std::vector<int32_t> header(256);
  header[0] = magic;
  header[1] = version;
  header[2] = count;
  return raw_bytes(header) + ids;
}

TEST(TokenFile, RawIdsOfBothWidths) {
  const TemporaryFolder folder;
  const Ids ids = random_ids(10'001, 50'000);
  for (const TokenDType dtype : {TokenDType::Auto, TokenDType::U16}) {
    const auto source = open(folder.write("a.bin", as<uint16_t>(ids)), dtype, 50'000);
    EXPECT_EQ(read_all(*source), ids);
    EXPECT_EQ(source->describe(), "token file a.bin, 20.0 kB, 10,001 tokens (u16)");
  }
  const auto source = open(folder.write("b.bin", as<uint32_t>(ids)), TokenDType::U32, 50'000);
  EXPECT_EQ(read_all(*source), ids);
  Ids middle(5);
  source->read(4'998, middle);
  EXPECT_EQ(middle, Ids(ids.begin() + 4'998, ids.begin() + 5'003));
  EXPECT_EQ(source->num_bytes(0, 3), -1);
  EXPECT_EQ(source->document_start(77), 0);
}

TEST(TokenFile, LlmcHeadersTellTheWidth) {
  const TemporaryFolder folder;
  const Ids ids = random_ids(300, 50'257);
  const std::string gpt2 =
      folder.write("gpt2.bin", with_header(20240520, 1, 300, as<uint16_t>(ids)));
  const std::string llama3 =
      folder.write("llama3.bin", with_header(20240801, 7, 300, as<uint32_t>(ids)));
  EXPECT_EQ(read_all(*open(gpt2, TokenDType::Auto, 50'257)), ids);
  EXPECT_EQ(read_all(*open(gpt2, TokenDType::U16, 50'257)), ids);
  EXPECT_EQ(read_all(*open(llama3, TokenDType::Auto, 128'256)), ids);
  EXPECT_NE(error_of(ErrorCode::Data, [&] { open(gpt2, TokenDType::U32, 50'257); })
                .find("header says u16"),
            std::string::npos);
}

TEST(TokenFile, TruncationAndBadHeadersGiveOneClearLine) {
  const TemporaryFolder folder;
  const Ids ids = random_ids(300, 50'257);
  const auto message = [&](const std::string& contents, TokenDType dtype) {
    return error_of(ErrorCode::Data, [&] { open(folder.write("x.bin", contents), dtype, 50'257); });
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string u16 = as<uint16_t>(ids);
  EXPECT_TRUE(has(message("", TokenDType::Auto), "empty"));
  EXPECT_TRUE(
      has(message(u16.substr(1), TokenDType::Auto), "multiple of 2 bytes (u16 ids), got 599"));
  EXPECT_TRUE(has(message(as<uint32_t>(ids).substr(2), TokenDType::U32), "multiple of 4 bytes"));
  EXPECT_TRUE(has(message(with_header(20240520, 1, 301, u16), TokenDType::Auto), "truncated"));
  EXPECT_TRUE(has(message(with_header(20240520, 1, 299, u16), TokenDType::Auto), "too long"));
  EXPECT_TRUE(has(message(with_header(20240520, 1, 0, ""), TokenDType::Auto), "0 tokens"));
  EXPECT_TRUE(has(message(with_header(20240520, 1, -5, u16), TokenDType::Auto), "-5 tokens"));
  EXPECT_TRUE(has(message(with_header(20240520, 3, 300, u16), TokenDType::Auto),
                  "expected version 1, got 3"));
  EXPECT_TRUE(has(message(with_header(20240520, 1, 300, u16).substr(0, 90), TokenDType::Auto),
                  "truncated"));
  EXPECT_TRUE(
      has(error_of(ErrorCode::Data, [&] { open(folder.path("no.bin"), TokenDType::Auto, 300); }),
          "no such file"));
}

TEST(TokenFile, AnIdOutsideTheVocabularyIsNamedAtOpen) {
  const TemporaryFolder folder;
  Ids ids = random_ids(100'000, 8'192);
  ids[91'234] = 8'192;
  const auto text = error_of(ErrorCode::Data, [&] {
    open(folder.write("ids.bin", as<uint16_t>(ids)), TokenDType::Auto, 8'192);
  });
  EXPECT_NE(text.find("ids.bin: token 91234 is id 8192, expected below the vocabulary of 8192"),
            std::string::npos)
      << text;
}

TEST(TokenFile, TheWrongWidthIsFoundAtOpen) {
  const TemporaryFolder folder;
  const Ids ids = random_ids(1'000, 8'192);
  const std::string wide = folder.write("wide.bin", as<uint32_t>(ids));
  const std::string narrow = folder.write("narrow.bin", as<uint16_t>(ids));
  // Halves of u32 ids are all below the vocabulary; every second one is 0.
  EXPECT_NE(error_of(ErrorCode::Data, [&] { open(wide, TokenDType::Auto, 8'192); })
                .find("set the token dtype to u32"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorCode::Data, [&] { open(wide, TokenDType::U16, 8'192); }).find("u32"),
            std::string::npos);
  EXPECT_NE(
      error_of(ErrorCode::Data, [&] { open(narrow, TokenDType::U32, 8'192); }).find("not u32 ids"),
      std::string::npos);
  // With a vocabulary above 65,536 the high halves may also be 1.
  const Ids large = random_ids(1'000, 128'256);
  const std::string wide_large = folder.write("large.bin", as<uint32_t>(large));
  EXPECT_NE(
      error_of(ErrorCode::Data, [&] { open(wide_large, TokenDType::Auto, 128'256); }).find("u32"),
      std::string::npos);
}

// 300 MiB of zeros with one bad id: beyond kResidentBytes the file is sampled at open, so the id is
// found only when it is read. The file is sparse and takes no disk.
TEST(TokenFile, LargeFilesAreCheckedAsTheyAreRead) {
  const TemporaryFolder folder;
  const std::string path = folder.write("large.bin", as<uint16_t>({1, 2, 3, 4}));
  std::filesystem::resize_file(path, size_t{300} << 20);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(2 * 123'456'789);
    file.write("\xFF\xFF", 2);
  }
  const auto source = open(path, TokenDType::U16, 8'192);
  Ids row(9);
  source->read(0, row);
  EXPECT_EQ(row, (Ids{1, 2, 3, 4, 0, 0, 0, 0, 0}));
  EXPECT_NE(error_of(ErrorCode::Data, [&] { source->read(123'456'785, row); })
                .find("token 123456789 is id 65535"),
            std::string::npos);
}

int64_t resident_file_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0, shared = 0;
  statm >> total >> resident >> shared;
  return shared * ::sysconf(_SC_PAGESIZE);
}

TEST(TokenFile, ReadingALargeFileDoesNotGrowTheResidentSet) {
  const TemporaryFolder folder;
  const std::string path = folder.write("large.bin", as<uint16_t>({1, 2, 3, 4}));
  std::filesystem::resize_file(path, size_t{300} << 20);
  const auto source = open(path, TokenDType::U16, 8'192);
  const int64_t before = resident_file_bytes();
  Ids row(1 << 20);
  for (int64_t begin = 0; begin < 32 << 20; begin += 1 << 20) {
    source->read(begin, row);
    ASSERT_LT(resident_file_bytes() - before, int64_t{8} << 20) << "at token " << begin;
  }
}

}  // namespace
}  // namespace ingot
