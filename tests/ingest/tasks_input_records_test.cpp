// What stages keep of their inputs, and how a change is noticed.
#include "ingest/tasks/input_records.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ingest/read/equal_inputs.h"
#include "ingest/read/input_content.h"
#include "support/read_support.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_support::error_of;
using testing_support::gzip;
using testing_support::read_all;
using testing_support::TemporaryFolder;

std::string content_after_reading(const InputFile& file, int64_t max_document_bytes = 1 << 20) {
  ReadSettings settings;
  settings.max_document_bytes = max_document_bytes;
  const auto reader = open_documents(file, settings);
  for (Document document; reader->next(document);) {
  }
  return reader->content().hash;
}

TEST(InputContent, IsOfTheFileAsStoredWhateverTheReaderNeedsOfIt) {
  const TemporaryFolder folder;
  const std::string lines = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
  folder.write("a.jsonl", lines);
  folder.write("b.jsonl.gz", gzip(lines));
  folder.write("c.csv", "text\none\n");
  folder.write("d.txt", std::string(1000, 'x'));
  folder.write("e.json", "[{\"text\": \"one\"}]\n");
  folder.write("f.txt", "");
  for (const InputFile& file : list_input_files({folder.path()})) {
    const std::string expected = content_of_file(*posix_storage(), file.location).hash;
    EXPECT_EQ(expected.size(), 32u);
    EXPECT_EQ(content_after_reading(file), expected) << file.name;
    EXPECT_EQ(content_after_reading(file, 10), expected) << file.name;  // passed over as too large
  }
}

// A stage of one task a file, whose work reads the file.
class InputRecordsTest : public ::testing::Test {
 protected:
  void run() {
    std::vector<std::vector<InputFile>> files;
    for (const InputFile& file : list_input_files({folder_.path("in")})) files.push_back({file});
    const auto num_tasks = static_cast<int64_t>(files.size());
    const std::string out = folder_.path("out");
    const InputRecords inputs(posix_storage(), out, files, {});
    TaskFolder tasks(posix_storage(), out, {{"stage", "test"}}, num_tasks);
    inputs.check(tasks, {}, 2);
    tasks.run({}, 2, inputs.stamped([&](int64_t task) -> json {
      ++tasks_done_;
      const InputFile& file = files[static_cast<size_t>(task)][0];
      return task_record(
          TaskInputs{records_of({content_of_file(*posix_storage(), file.location)})});
    }),
              {});
  }
  bool is_stamped(int64_t task) const {
    return fs::exists(folder_.path("out/tasks/0000" + std::to_string(task) + ".stamp"));
  }
  void set_time(const std::string& name, int64_t seconds_ago) const {
    fs::last_write_time(folder_.path(name),
                        fs::file_time_type::clock::now() - std::chrono::seconds(seconds_ago));
  }

  const TemporaryFolder folder_;
  std::atomic<int> tasks_done_ = 0;
};

TEST_F(InputRecordsTest, AFileThatWasWrittenJustNowIsNotKnownByItsTime) {
  folder_.write("in/a.txt", "old");
  folder_.write("in/b.txt", "new");
  set_time("in/a.txt", 100);
  run();
  EXPECT_TRUE(is_stamped(0));
  EXPECT_FALSE(is_stamped(1));
  set_time("in/b.txt", 100);
  run();  // hashes b and finds it the same
  EXPECT_TRUE(is_stamped(1));
  EXPECT_EQ(tasks_done_, 2);
}

TEST_F(InputRecordsTest, AChangeIsNamedWhereSizeAndTimeAreTheSame) {
  for (const char* name : {"a", "b", "c"}) {
    folder_.write(std::string("in/") + name + ".txt", "text");
    set_time(std::string("in/") + name + ".txt", 100);
  }
  run();
  const auto time = fs::last_write_time(folder_.path("in/b.txt"));
  folder_.write("other", "tent");  // written while b is there, so that their inodes differ
  fs::rename(folder_.path("other"), folder_.path("in/b.txt"));
  fs::last_write_time(folder_.path("in/b.txt"), time);
  const std::string error = error_of(ErrorCode::Config, [&] { run(); });
  EXPECT_NE(error.find(folder_.path("in/b.txt")), std::string::npos) << error;
  EXPECT_EQ(tasks_done_, 3);
}

TEST_F(InputRecordsTest, AStampThatIsLostOrTornCostsAHash) {
  folder_.write("in/a.txt", "text");
  set_time("in/a.txt", 100);
  run();
  for (const char* torn : {"", "[[", "[[1,2]]", "{}"}) {
    folder_.write("out/tasks/00000.stamp", torn);
    run();
    EXPECT_GT(fs::file_size(folder_.path("out/tasks/00000.stamp")), 8u) << torn;
  }
  fs::remove(folder_.path("out/tasks/00000.stamp"));
  run();
  EXPECT_TRUE(is_stamped(0));
  EXPECT_EQ(tasks_done_, 1);
}

TEST(EqualInputs, AreFoundWhateverTheirFilesAreCalled) {
  const TemporaryFolder folder;
  for (const char* name : {"x/a.txt", "x/deep/b.txt", "y/c.txt", "y/d.txt", "z/a.txt", "z/b.txt"}) {
    folder.write(name, std::string(name).find("b") != std::string::npos ||
                               std::string(name).find("c") != std::string::npos
                           ? "second"
                           : "first_");
  }
  const auto problem = [&](const std::vector<std::string>& inputs) {
    return equal_inputs(list_input_files(inputs), 2);
  };
  EXPECT_NE(problem({folder.path("x"), folder.path("y")}).find("hold the same"), std::string::npos);
  folder.write("z/a.txt", "fourth");
  EXPECT_EQ(problem({folder.path("x"), folder.path("z")}), "");
  EXPECT_EQ(problem({folder.path("x")}), "");  // equal files of one input are equal documents
  folder.write("e1/a.txt", "");
  folder.write("e2/a.txt", "");
  EXPECT_EQ(problem({folder.path("e1"), folder.path("e2")}), "");  // they hold nothing
  EXPECT_EQ(same_file_twice(list_input_files({folder.path("x"), folder.path("z")})), "");
}

}  // namespace
}  // namespace ingot::test
