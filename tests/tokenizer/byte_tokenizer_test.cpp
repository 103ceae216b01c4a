#include <gtest/gtest.h>

#include "core/error/error.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

TEST(ByteTokenizer, AnyBytesComeBackUnchanged) {
  const auto tokenizer = byte_tokenizer();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto ids = tokenizer->encode(all);
  ASSERT_EQ(ids.size(), 256u);
  for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(ids[byte], byte);
  EXPECT_EQ(tokenizer->decode(ids), all);
  EXPECT_TRUE(tokenizer->encode("").empty());
}

TEST(ByteTokenizer, TheSeparatorFollowsTheBytesAndDecodesToNothing) {
  const auto tokenizer = byte_tokenizer();
  EXPECT_EQ(tokenizer->vocab_size(), 257);
  EXPECT_EQ(tokenizer->bos(), 256);
  EXPECT_EQ(tokenizer->eos(), 256);
  EXPECT_EQ(tokenizer->decode(std::vector<int32_t>{256, 'h', 'i', 256}), "hi");
}

TEST(ByteTokenizer, RefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = byte_tokenizer();
  EXPECT_THROW(tokenizer->decode(257), Error);
  EXPECT_THROW(tokenizer->decode(-1), Error);
}

TEST(LoadTokenizer, ReadsBackWhatSerializeWrote) {
  const auto storage = memory_storage();
  EXPECT_EQ(load_tokenizer(*storage, "byte")->kind(), "byte");
  write_file_atomically(*storage, "tokenizer.bin", byte_tokenizer()->serialize());
  EXPECT_EQ(load_tokenizer(*storage, "tokenizer.bin")->kind(), "byte");
}

TEST(LoadTokenizer, RefusesAFileThatIsNoTokenizer) {
  const auto storage = memory_storage();
  write_file_atomically(*storage, "notes.txt", "just some text");
  try {
    load_tokenizer(*storage, "notes.txt");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_NE(std::string(error.what()).find("notes.txt"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ingot
