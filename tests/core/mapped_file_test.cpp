#include "core/storage/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "support/own_folder.h"

namespace ingot {
namespace {

TEST(MappedFile, IsFoundByAnyAddressInIt) {
  const auto folder = testing_support::own_folder();
  std::filesystem::create_directories(folder);
  const auto make = [&](const std::string& name, size_t size) {
    std::ofstream(folder / name) << std::string(size, 'x');
    return (folder / name).string();
  };
  std::optional<MappedFile> first(make("first", 100));
  const MappedFile second(make("second", 10'000));
  const char* in_first = first->bytes().data() + 99;
  EXPECT_EQ(mapping_at(in_first).path, first->path());
  EXPECT_EQ(mapping_at(in_first).size, 100u);
  EXPECT_EQ(mapping_at(second.bytes().data()).path, second.path());
  EXPECT_EQ(mapping_at(&folder).path, nullptr);

  const MappedFile moved(std::move(*first));
  EXPECT_EQ(mapping_at(in_first).path, moved.path());
  first.reset();
  EXPECT_EQ(mapping_at(in_first).path, moved.path());
  std::filesystem::remove_all(folder);
}

TEST(MappedFile, IsForgottenOnceItIsGoneAndItsRecordUsedAgain) {
  const auto folder = testing_support::own_folder();
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "file") << "text";
  const std::string path = (folder / "file").string();
  const char* where = nullptr;
  for (int i = 0; i < 3; ++i) {
    const MappedFile file(path);
    where = file.bytes().data();
    EXPECT_EQ(mapping_at(where).path, path);
  }
  EXPECT_EQ(mapping_at(where).path, nullptr);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ingot
