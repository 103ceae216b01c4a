#include "remote/hub.h"

#include <gtest/gtest.h>

#include "support/files.h"

namespace ingot {
namespace {

using testing_support::error_of;

TEST(HfAddress, NamesRepositoryRevisionAndPath) {
  const auto plain = parse_hf_address("hf://datasets/owner/name/a/b.parquet");
  EXPECT_EQ(plain.repository, "owner/name");
  EXPECT_EQ(plain.revision, "main");
  EXPECT_EQ(plain.path, "a/b.parquet");
  EXPECT_EQ(parse_hf_address("hf://datasets/o/n@v1.0").revision, "v1.0");
  EXPECT_EQ(parse_hf_address("hf://datasets/o/n@refs/pr/1/x").revision, "refs/pr/1");
  EXPECT_EQ(hf_file("hf://datasets/o/n@refs/pr/1/a b#.txt", {}).url,
            "https://huggingface.co/datasets/o/n/resolve/refs%2Fpr%2F1/a%20b%23.txt");
  for (const char* bad :
       {"hf://models/o/n/x", "hf://datasets/o", "hf://datasets//n/x", "hf://datasets/o/n@/x"}) {
    EXPECT_NE(error_of(ErrorCode::Usage, [&] { parse_hf_address(bad); }).find("OWNER/NAME"),
              std::string::npos);
  }
}

TEST(HfAddress, ACommitIsTakenWhereTheHubTellsOne) {
  const std::string commit(40, 'a');
  EXPECT_EQ(parse_hf_commit("{\"sha\": \"" + commit + "\"}", "main"), commit);
  for (const std::string answer :
       {"", "[]", "{}", R"({"sha": 5})", R"({"sha": null})", R"({"sha": "../../elsewhere"})"})
    EXPECT_EQ(parse_hf_commit(answer, "main"), "main") << answer;
}

}  // namespace
}  // namespace ingot
