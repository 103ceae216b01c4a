#include "core/storage/storage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "core/error/error.h"

namespace ingot {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void write(Storage& storage, const std::string& path, std::string_view text) {
  const auto file = storage.create(path);
  file->append(bytes_of(text));
  file->sync();
  file->close();
}

ErrorCode code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Internal;
}

// The shared contract, run on every implementation.
class StorageTest : public ::testing::TestWithParam<std::string> {
 protected:
  StorageTest()
      : root_(join_path(::testing::TempDir(), "ingot_storage_" + std::to_string(::getpid()))),
        storage_(GetParam() == "posix" ? posix_storage() : memory_storage()) {
    if (GetParam() == "faulty") storage_ = faulty_storage(storage_, {});
    storage_->make_directories(root_);
  }
  ~StorageTest() override { storage_->remove(root_); }

  std::string path(std::string_view name) const { return join_path(root_, name); }
  std::string text(std::string_view name) const { return read_text(*storage_, path(name)); }

  std::string root_;
  std::shared_ptr<Storage> storage_;
};

TEST_P(StorageTest, WhatWasWrittenIsRead) {
  const auto file = storage_->create(path("a"));
  file->append(bytes_of("hello "));
  file->append(bytes_of("world"));
  file->close();
  EXPECT_EQ(text("a"), "hello world");
  for (const auto& reader : {storage_->open(path("a")), storage_->open_once(path("a"))}) {
    EXPECT_EQ(reader->size(), 11);
    std::string part(5, ' ');
    reader->read(6, std::as_writable_bytes(std::span(part)));
    EXPECT_EQ(part, "world");
  }
}

TEST(PosixStorage, KnowsTheFreeSpaceOfFoldersThatAreYetToBeMade) {
  const std::string here = ::testing::TempDir();
  const auto storage = posix_storage();
  EXPECT_GT(storage->free_bytes(here).value(), 0);
  EXPECT_GT(storage->free_bytes(join_path(here, "not/made/yet")).value(), 0);
  EXPECT_GT(storage->free_bytes("not_made_yet").value(), 0);
  EXPECT_EQ(storage->free_bytes("/proc/self"), std::nullopt);  // has no blocks
  EXPECT_EQ(memory_storage()->free_bytes("a"), std::nullopt);
}

TEST_P(StorageTest, ReadingPastTheEndIsADataError) {
  write(*storage_, path("a"), "short");
  const auto reader = storage_->open(path("a"));
  std::string part(3, ' ');
  EXPECT_EQ(code_of([&] { reader->read(3, std::as_writable_bytes(std::span(part))); }),
            ErrorCode::Data);
}

TEST_P(StorageTest, CreateTruncatesAndAppendContinues) {
  write(*storage_, path("a"), "first");
  write(*storage_, path("a"), "2nd");
  EXPECT_EQ(text("a"), "2nd");
  storage_->open_append(path("a"))->append(bytes_of("+more"));
  EXPECT_EQ(text("a"), "2nd+more");
  storage_->open_append(path("new"))->append(bytes_of("x"));
  EXPECT_EQ(text("new"), "x");
}

TEST_P(StorageTest, MissingFilesAreDataErrorsThatNameThem) {
  for (const auto& f : std::vector<std::function<void()>>{
           [&] { storage_->open(path("none")); },
           [&] { storage_->list(path("none")); },
           [&] { storage_->remove(path("none")); },
           [&] { storage_->truncate(path("none"), 0); },
           [&] { storage_->sync_directory(path("none")); },
           [&] { storage_->create(path("none/file")); },
           [&] { storage_->open(root_); },
       }) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data) << error.what();
      EXPECT_NE(std::string(error.what()).find(root_), std::string::npos) << error.what();
    }
  }
}

TEST_P(StorageTest, ListIsSortedAndHoldsFilesAndFolders) {
  storage_->make_directories(path("m/deep"));
  write(*storage_, path("z"), "");
  write(*storage_, path("a"), "");
  write(*storage_, path("m/inner"), "");
  EXPECT_EQ(storage_->list(root_), (std::vector<std::string>{"a", "m", "z"}));
  EXPECT_EQ(storage_->list(path("m/")), (std::vector<std::string>{"deep", "inner"}));
  EXPECT_TRUE(storage_->exists(path("m")));
  EXPECT_FALSE(storage_->exists(path("inner")));
}

TEST_P(StorageTest, RenameReplacesAFileAndMovesAFolder) {
  write(*storage_, path("a"), "new");
  write(*storage_, path("b"), "old");
  storage_->rename(path("a"), path("b"));
  EXPECT_EQ(text("b"), "new");
  EXPECT_FALSE(storage_->exists(path("a")));

  storage_->make_directories(path("from"));
  write(*storage_, path("from/file"), "inside");
  storage_->rename(path("from"), path("to"));
  EXPECT_EQ(text("to/file"), "inside");
  EXPECT_FALSE(storage_->exists(path("from")));
}

TEST_P(StorageTest, RenameOntoAFullFolderIsRefused) {
  storage_->make_directories(path("from"));
  storage_->make_directories(path("to"));
  write(*storage_, path("to/file"), "precious");
  EXPECT_EQ(code_of([&] { storage_->rename(path("from"), path("to")); }), ErrorCode::Storage);
  EXPECT_EQ(text("to/file"), "precious");
}

TEST_P(StorageTest, RemoveTakesAFolderWithWhatItHolds) {
  storage_->make_directories(path("d/e"));
  write(*storage_, path("d/e/file"), "x");
  write(*storage_, path("dx"), "stays");
  storage_->remove(path("d"));
  EXPECT_EQ(storage_->list(root_), (std::vector<std::string>{"dx"}));
}

TEST_P(StorageTest, TruncateCutsTheTail) {
  write(*storage_, path("a"), "0123456789");
  storage_->truncate(path("a"), 4);
  EXPECT_EQ(text("a"), "0123");
}

TEST_P(StorageTest, AtomicWriteReplacesAndLeavesNothingAside) {
  write_file_atomically(*storage_, path("a"), "one");
  write_file_atomically(*storage_, path("a"), "two");
  EXPECT_EQ(text("a"), "two");
  EXPECT_EQ(storage_->list(root_), (std::vector<std::string>{"a"}));
}

TEST_P(StorageTest, ALockHasOneHolderForEachNumber) {
  auto first = storage_->try_lock(path("lock"), 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(storage_->try_lock(path("lock"), 1), nullptr);
  EXPECT_NE(storage_->try_lock(path("lock"), 2), nullptr);
  EXPECT_NE(storage_->try_lock(path("other"), 1), nullptr);
  first.reset();
  EXPECT_NE(storage_->try_lock(path("lock"), 1), nullptr);
  EXPECT_THROW(storage_->try_lock(path("nowhere/lock"), 1), Error);
}

INSTANTIATE_TEST_SUITE_P(All, StorageTest, ::testing::Values("posix", "memory", "faulty"),
                         [](const auto& kind) { return kind.param; });

// Files in memory refuse to drop their pages; all threads that hear so at once read on.
TEST(PosixStorage, IsReadOnceWherePagesCannotBeDroppedToo) {
  const int memory = memfd_create("storage_test", MFD_CLOEXEC);
  ASSERT_EQ(::write(memory, "hello", 5), 5);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const auto reader = posix_storage()->open_once(fmt::format("/proc/self/fd/{}", memory));
    std::vector<std::future<std::string>> texts;
    for (int i = 0; i < 4; ++i)
      texts.push_back(std::async(std::launch::async, [&] {
        std::string text(5, ' ');
        reader->read(0, std::as_writable_bytes(std::span(text)));
        return text;
      }));
    for (auto& text : texts) EXPECT_EQ(text.get(), "hello");
  }
  ::close(memory);
}

TEST(Paths, JoinParentAndName) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(parent_path("a/b"), "a");
  EXPECT_EQ(parent_path("a/b/"), "a");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(file_name("a/b"), "b");
  EXPECT_EQ(file_name("a/b/"), "b");
  EXPECT_EQ(file_name("b"), "b");
}

}  // namespace
}  // namespace ingot
