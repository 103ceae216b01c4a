#include "shards/foreign/megatron_file.h"
#include "feed/open_source.h"

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/megatron_index.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::megatron_index;
using testing_support::raw_bytes;
using testing_support::TemporaryFolder;

// Sequences of 3, 2, 4 and 1 tokens; the second document has two of them, the third none.
const std::vector<int32_t> kLengths{3, 2, 4, 1};
const std::vector<int64_t> kDocuments{0, 1, 3, 3, 4};

std::unique_ptr<TokenSource> open(const std::string& path) {
  return open_token_source(path, *byte_tokenizer(), TokenDType::Auto, 300);
}

TEST(MegatronFile, GivesTokensAndDocuments) {
  for (const int width : {2, 4}) {
    const TemporaryFolder folder;
    const std::vector<uint16_t> narrow{1, 2, 3, 4, 5, 6, 7, 8, 9, 299};
    const std::vector<int32_t> wide(narrow.begin(), narrow.end());
    const std::string path =
        folder.write("a.bin", width == 2 ? raw_bytes(narrow) : raw_bytes(wide));
    folder.write("a.idx", megatron_index(width == 2 ? 8 : 4, width, kLengths, kDocuments));
    const auto source = open(path);
    ASSERT_EQ(source->num_tokens(), 10);
    std::vector<int32_t> ids(10);
    source->read(0, ids);
    EXPECT_EQ(ids, wide);
    EXPECT_EQ(source->num_documents(), 4);
    const std::vector<int64_t> begins{0, 3, 9, 9, 10};
    for (int64_t d = 0; d <= 4; ++d) EXPECT_EQ(source->document_begin(d), begins[d]);
    const std::vector<int64_t> starts{0, 0, 0, 3, 3, 3, 3, 3, 3, 9};
    for (int64_t p = 0; p < 10; ++p) EXPECT_EQ(source->document_start(p), starts[p]) << p;
    EXPECT_EQ(source->num_bytes(0, 3), -1);
    EXPECT_EQ(source->describe(), width == 2
                                      ? "token file a.bin, 20 B, 10 tokens (u16), 4 documents"
                                      : "token file a.bin, 40 B, 10 tokens (u32), 4 documents");
  }
}

TEST(MegatronFile, AnIndexThatDoesNotFitIsRefusedInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", raw_bytes(std::vector<uint16_t>(10, 7)));
  const auto refusal = [&](const std::string& index) {
    folder.write("a.idx", index);
    return error_of(ErrorCode::Data, [&] { open(path); });
  };
  const std::string good = megatron_index(8, 2, kLengths, kDocuments);
  EXPECT_NE(refusal(good.substr(0, good.size() - 1)).find("truncated"), std::string::npos);
  EXPECT_NE(refusal(good.substr(0, 20)).find("header of 34 bytes"), std::string::npos);
  EXPECT_NE(refusal(megatron_index(6, 2, kLengths, kDocuments)).find("dtype code 6"),
            std::string::npos);
  EXPECT_NE(refusal(megatron_index(8, 2, {3, 2, 4}, {0, 3})).find("do not belong together"),
            std::string::npos);
  EXPECT_NE(refusal(megatron_index(8, 4, kLengths, kDocuments)).find("sequence 1"),
            std::string::npos);
  EXPECT_NE(refusal(megatron_index(8, 2, kLengths, {0, 3, 2, 4})).find("document 2"),
            std::string::npos);
  EXPECT_NE(refusal(megatron_index(8, 2, kLengths, {0, 3})).find("document 1"), std::string::npos);
  std::string other_version = good;
  other_version[9] = 2;
  EXPECT_NE(refusal(other_version).find("version 1"), std::string::npos);
}

TEST(MegatronFile, AFileInAnIndexsPlaceThatIsNoneIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", raw_bytes(std::vector<uint16_t>(10, 7)));
  EXPECT_FALSE(has_megatron_index(path));
  EXPECT_EQ(open(path)->num_documents(), 1);
  folder.write("a.idx", "something else");
  EXPECT_TRUE(has_megatron_index(path));
  EXPECT_NE(error_of(ErrorCode::Data, [&] { open(path); }).find("a.idx"), std::string::npos);
}

}  // namespace
}  // namespace ingot
