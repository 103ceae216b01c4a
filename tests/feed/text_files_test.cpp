// Which files are trained on as text, and what is said of the others.
#include "feed/text_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/error/error.h"
#include "support/files.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

std::string refusal(const std::string& path, const TextChoice& choice = {}) {
  return error_of(ErrorCode::Data, [&] { text_files(path, choice, "byte"); });
}

TEST(TextFiles, AreToldByNameAndFirstBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"a.txt", "a.md", "a", "a.html", "novel.TXT", "a.json.bak", "v1.2"}) {
    const std::string path = folder.write(name, "plain text");
    EXPECT_EQ(text_files(path, {}, "byte"), std::vector<std::string>{path}) << name;
  }
  for (const char* name : {"a.jsonl", "a.NDJSON", "a.json", "a.csv", "a.tsv", "a.parquet", "a.warc",
                           "a.warc.gz", "a.txt.zst", "a.gz"}) {
    const std::string path = folder.write(name, "plain text");
    EXPECT_NE(refusal(path).find("ingot data tokenize " + path), std::string::npos) << name;
    EXPECT_EQ(text_files(path, {.refuses = false}, "byte").size(), 1u) << name;
  }
  for (const char* head : {"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "PAR1"})
    EXPECT_NE(refusal(folder.write("b.txt", head)).find("by its first bytes"), std::string::npos);
  EXPECT_NE(refusal("s3://bucket/a.txt").find("address"), std::string::npos);
}

TEST(TextFiles, APipeIsNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(text_files(folder.path("pipe"), {}, "byte").size(), 1u);
}

TEST(TextFiles, OfAFolderLeaveNothingOutInSilence) {
  const TemporaryFolder folder;
  folder.write("b.txt", "b");
  folder.write("a/a.txt", "a");
  folder.write("empty.txt", "");
  folder.write(".git/config.json", "hidden");
  folder.write("picture.png", "png");
  const std::vector<std::string> both = {folder.path("a/a.txt"), folder.path("b.txt")};
  EXPECT_EQ(text_files(folder.path(), {}, "byte"), both);
  folder.write("a/c.jsonl.gz", "{}");
  folder.write("a/d.jsonl.gz", "{}");
  folder.write("NOTES.md", "# Notes");
  const std::string message = refusal(folder.path());
  EXPECT_NE(message.find("its 2 .txt"), std::string::npos) << message;
  EXPECT_NE(message.find("left out: 2 .jsonl.gz, 1 .md;"), std::string::npos) << message;
  EXPECT_EQ(text_files(folder.path(), {.txt_only = true}, "byte"), both);
  EXPECT_EQ(text_files(folder.path(), {.refuses = false}, "byte"), both);
  std::filesystem::remove(both[0]);
  std::filesystem::remove(both[1]);
  EXPECT_NE(refusal(folder.path(), {.txt_only = true}).find("expected .txt files"),
            std::string::npos);
}

}  // namespace
}  // namespace ingot
