#include "checkpoint/new_output.h"

#include <gtest/gtest.h>

#include "checkpoint/folder.h"
#include "core/error/error.h"

namespace ingot {
namespace {

class NewOutput : public ::testing::Test {
 protected:
  NewOutput() { storage_->make_directories("home"); }

  void write(const std::string& path) { storage_->create(path)->close(); }
  std::vector<std::string> names(const std::string& dir = "home") { return storage_->list(dir); }
  using Names = std::vector<std::string>;

  template <class F>
  std::string refusal(const F& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Usage) << error.what();
      return error.what();
    }
    return "";
  }

  std::shared_ptr<Storage> storage_ = memory_storage();
};

TEST_F(NewOutput, AFolderIsThereWholeOrNotAtAll) {
  {
    NewFolder folder(*storage_, "home/a");
    write(join_path(folder.path(), "file"));
  }
  EXPECT_EQ(names(), Names{});
  storage_->make_directories("home/a");
  for (const char* dir : {"home/a/", "home/b"}) {  // over an empty one, and a new one
    NewFolder folder(*storage_, dir);
    write(join_path(folder.path(), "file"));
    folder.publish();
    EXPECT_EQ(names(dir), Names{"file"});
  }
  EXPECT_EQ(names(), (Names{"a", "b"}));
}

TEST_F(NewOutput, AFolderThatAnotherWritesIsRefusedAndLeftToIt) {
  NewFolder first(*storage_, "home/a");
  write(join_path(first.path(), "file"));
  EXPECT_NE(refusal([&] { NewFolder(*storage_, "home/a"); }).find("another process"),
            std::string::npos);
  first.publish();
  EXPECT_EQ(names("home/a"), Names{"file"});
  EXPECT_NE(refusal([&] { NewFolder(*storage_, "home/a"); }).find("already holds"),
            std::string::npos);
}

TEST_F(NewOutput, AFolderThatCameMeanwhileIsNotReplaced) {
  NewFolder folder(*storage_, "home/a");
  storage_->make_directories("home/a");
  write("home/a/somebodys");
  EXPECT_NE(refusal([&] { folder.publish(); }), "");
  EXPECT_EQ(names("home/a"), Names{"somebodys"});
}

TEST_F(NewOutput, WhatAKilledProcessLeftIsRemoved) {
  storage_->make_directories(temporary_path("home/a"));
  write(join_path(temporary_path("home/a"), "half"));
  write(join_path(temporary_path("home/a"), ".lock"));
  NewFolder folder(*storage_, "home/a");
  write(join_path(folder.path(), "file"));
  folder.publish();
  EXPECT_EQ(names("home/a"), Names{"file"});
}

TEST_F(NewOutput, AFileIsThereWholeOrNotAtAllAndWrittenByOne) {
  using Existing = NewFile::Existing;
  {
    NewFile file(*storage_, "home/a", Existing::Refused);
    write(file.path());
    EXPECT_NE(refusal([&] { NewFile(*storage_, "home/a", Existing::Replaced); }), "");
  }
  EXPECT_EQ(names(), Names{});
  NewFile file(*storage_, "home/a", Existing::Refused);
  write(file.path());
  file.publish();
  EXPECT_EQ(names(), Names{"a"});
  EXPECT_NE(refusal([&] { NewFile(*storage_, "home/a", Existing::Refused); }), "");
  NewFile(*storage_, "home/a", Existing::Replaced).publish();
}

}  // namespace
}  // namespace ingot
