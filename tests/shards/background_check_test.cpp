// Shards without hashes of chunks are compared while they are read.
#include "shards/background_check.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "support/files.h"
#include "support/shard_documents.h"

namespace ingot::test {
namespace {

using testing_support::error_of;
using testing_support::TemporaryFolder;

class BackgroundChecks : public ::testing::Test {
 protected:
  std::string found() const {
    BackgroundCheck check(posix_storage(), folder_.path(), manifest_.shards, 2);
    check.wait();
    return error_of(ErrorCode::Data, [&] { check.rethrow(); });
  }
  void flip(const std::string& name) const {
    std::string bytes = read_text(*posix_storage(), folder_.path(name));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    folder_.write(name, bytes);
  }

  TemporaryFolder folder_;
  ShardManifest manifest_ =
      write_shards(posix_storage(), folder_.path(), some_documents(300, 30, 300), 1'000, 300);
};

TEST_F(BackgroundChecks, FindAChangeInAnyShard) {
  ASSERT_GT(manifest_.shards.size(), 2u);
  BackgroundCheck good(posix_storage(), folder_.path(), manifest_.shards, 2);
  good.wait();
  EXPECT_NO_THROW(good.rethrow());
  for (const char* name : {"00002.tokens", "00001.documents"}) {
    flip(name);
    EXPECT_NE(found().find(std::string(name) + ": the file changed"), std::string::npos);
    flip(name);
  }
  std::filesystem::remove(folder_.path("00000.tokens"));
  BackgroundCheck gone(posix_storage(), folder_.path(), manifest_.shards, 2);
  gone.wait();
  EXPECT_THROW(gone.rethrow(), Error);
}

TEST_F(BackgroundChecks, EndWithTheirOwner) {
  const BackgroundCheck stopped(posix_storage(), folder_.path(), manifest_.shards, 2);
  EXPECT_NO_THROW(stopped.rethrow());
}

}  // namespace
}  // namespace ingot::test
