#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "core/error/error.h"
#include "ledger/task_folder.h"

namespace ingot::test {
namespace {

using nlohmann::json;

const json kStage = {{"name", "count"}, {"settings", {{"limit", 3}}}, {"inputs", {"a", "b"}}};

std::string output(int64_t task) {
  return "out/" + std::to_string(task);
}

// Writes an output file a task and counts what was done.
class Counting {
 public:
  explicit Counting(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {
    storage_->make_directories("out");
  }
  TaskFolder::Work work() {
    return [this](int64_t task) {
      done.fetch_add(1);
      write_file_atomically(*storage_, output(task),
                            std::string(100, static_cast<char>('a' + task)));
      return json{{"size", 100 + task}};
    };
  }
  std::atomic<int> done = 0;

 private:
  std::shared_ptr<Storage> storage_;
};

TEST(TaskFolder, EveryTaskIsDoneOnceByWhomeverItBelongsTo) {
  const auto storage = memory_storage();
  Counting counting(storage);
  for (int64_t process : {2, 0, 1}) {
    TaskFolder folder(storage, "out", kStage, 10);
    EXPECT_FALSE(folder.finished());
    folder.run({process, 3}, 2, counting.work(), {});
  }
  TaskFolder folder(storage, "out", kStage, 10);
  EXPECT_TRUE(folder.finished());
  EXPECT_EQ(counting.done, 10);
  for (int64_t task = 0; task < 10; ++task) EXPECT_EQ(folder.record(task)["size"], 100 + task);
}

TEST(TaskFolder, AFinishedFolderIsJoinedWithoutWorkByAnyNumberOfProcesses) {
  const auto storage = memory_storage();
  Counting counting(storage);
  TaskFolder(storage, "out", kStage, 5).run({0, 1}, 2, counting.work(), {});
  for (int64_t process = 0; process < 4; ++process) {
    TaskFolder folder(storage, "out", kStage, 5);
    folder.run({process, 4}, 1, counting.work(), {});
    EXPECT_TRUE(folder.finished());
  }
  EXPECT_EQ(counting.done, 5);
}

TEST(TaskFolder, LostAndTornRecordsRepeatTheirTaskOnly) {
  const auto storage = memory_storage();
  Counting counting(storage);
  TaskFolder(storage, "out", kStage, 6).run({}, 1, counting.work(), {});
  storage->remove("out/tasks/00001.json");
  const auto size = static_cast<int64_t>(read_text(*storage, "out/tasks/00002.json").size());
  storage->truncate("out/tasks/00002.json", size / 2);
  storage->truncate("out/tasks/00003.json", 0);
  write_file_atomically(*storage, "out/tasks/00004.json", R"({"task":5})");  // of another task
  counting.done = 0;
  TaskFolder folder(storage, "out", kStage, 6);
  EXPECT_EQ(folder.num_finished(), 2);
  EXPECT_THROW(folder.record(2), Error);
  folder.run({}, 2, counting.work(), {});
  EXPECT_EQ(counting.done, 4);
  EXPECT_TRUE(folder.finished());
  EXPECT_EQ(folder.record(4)["size"], 104);
}

TEST(TaskFolder, AnotherDescriptionIsRefusedWithBothValues) {
  const auto storage = memory_storage();
  TaskFolder(storage, "out", kStage, 2);
  json other = kStage;
  other["settings"]["limit"] = 4;
  try {
    TaskFolder(storage, "out", other, 2);
    FAIL() << "joined with another limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
    const std::string message = error.what();
    EXPECT_NE(message.find("settings.limit: 3, now it is 4"), std::string::npos) << message;
  }
  other = kStage;
  other["inputs"][1] = "c";
  EXPECT_THROW(TaskFolder(storage, "out", other, 2), Error);
  EXPECT_THROW(TaskFolder(storage, "out", kStage, 3), Error);
  other = kStage;
  other.erase("settings");
  EXPECT_THROW(TaskFolder(storage, "out", other, 2), Error);
}

TEST(TaskFolder, AFailedTaskIsReportedAndDoneAgain) {
  const auto storage = memory_storage();
  Counting counting(storage);
  TaskFolder folder(storage, "out", kStage, 4);
  const auto work = counting.work();
  const TaskFolder::Work failing = [&](int64_t task) {
    check(task != 2, ErrorCode::Data, "task {} is broken", task);
    return work(task);
  };
  EXPECT_THROW(folder.run({}, 2, failing, {}), Error);
  EXPECT_FALSE(folder.finished());
  folder.run({}, 2, work, {});
  EXPECT_TRUE(folder.finished());
}

TEST(TaskFolder, ATaskThatAnotherIsAtIsWaitedForAndNotRepeated) {
  const auto storage = memory_storage();
  Counting counting(storage);
  const auto work = counting.work();
  std::promise<void> begun, go_on;
  std::jthread other([&] {
    TaskFolder(storage, "out", kStage, 3)
        .run({0, 3}, 1,
             [&](int64_t task) {
               begun.set_value();
               go_on.get_future().wait();
               return work(task);
             },
             {});
  });
  begun.get_future().wait();
  TaskFolder folder(storage, "out", kStage, 3);
  folder.run({0, 1}, 2, work, [&](int64_t done, int64_t) {
    if (done == 2) go_on.set_value();  // the two that were free
  });
  EXPECT_TRUE(folder.finished());
  EXPECT_EQ(counting.done, 3);
}

TEST(TaskFolder, HelpDoesWhatNobodyIsAt) {
  const auto storage = memory_storage();
  Counting counting(storage);
  TaskFolder folder(storage, "out", kStage, 6);
  const auto held = storage->try_lock("out/tasks/lock", 4);
  folder.run({0, 3}, 1, counting.work(), {});
  EXPECT_EQ(folder.help(2, counting.work()), 3);
  EXPECT_EQ(folder.num_finished(), 5);
  EXPECT_EQ(folder.help(2, counting.work()), 0);
  EXPECT_EQ(counting.done, 5);
}

TEST(TaskFolder, HelpStopsWhereAnotherHasFailedButTriesWhatFailedBefore) {
  const auto storage = memory_storage();
  Counting counting(storage);
  const TaskFolder::Work broken = [](int64_t task) -> json {
    throw Error(ErrorCode::Data, "task " + std::to_string(task) + " is broken");
  };
  TaskFolder opened_before(storage, "out", kStage, 2);
  EXPECT_THROW(TaskFolder(storage, "out", kStage, 2).run({1, 2}, 1, broken, {}), Error);
  try {
    opened_before.help(1, counting.work());
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "stopped, as another process failed: task 1 is broken");
  }
  TaskFolder opened_after(storage, "out", kStage, 2);
  EXPECT_EQ(opened_after.help(1, counting.work()), 2);
  EXPECT_FALSE(storage->exists("out/tasks/00001.error"));
}

TEST(TaskFolder, ProgressCountsThisProcessTasksAndThoseDoneBefore) {
  const auto storage = memory_storage();
  Counting counting(storage);
  TaskFolder(storage, "out", kStage, 7).run({0, 7}, 1, counting.work(), {});
  std::vector<std::pair<int64_t, int64_t>> calls;
  TaskFolder(storage, "out", kStage, 7)
      .run({0, 2}, 1, counting.work(),
           [&](int64_t done, int64_t of) { calls.emplace_back(done, of); });
  using Calls = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(calls, (Calls{{1, 4}, {2, 4}, {3, 4}, {4, 4}}));
}

// The promise behind «resumes after a kill»: at no moment is there a record without its output.
TEST(TaskFolder, PowerCutAtEveryWriteLeavesNothingButWorkToRepeat) {
  for (const bool forget : {false, true}) {
    for (int64_t cut = 0;; ++cut) {
      const auto disk = memory_storage();
      bool survived = true;
      try {
        const auto storage = faulty_storage(disk, {cut, forget});
        Counting counting(storage);
        TaskFolder(storage, "out", kStage, 3).run({}, 1, counting.work(), {});
      } catch (const Error&) {
        survived = false;
      }
      Counting counting(disk);
      TaskFolder folder(disk, "out", kStage, 3);
      const int64_t before = folder.num_finished();
      folder.run({}, 1, counting.work(), {});
      EXPECT_EQ(counting.done, 3 - before);
      for (int64_t task = 0; task < 3; ++task) {
        EXPECT_EQ(read_text(*disk, output(task)), std::string(100, static_cast<char>('a' + task)));
      }
      if (survived) break;
    }
  }
}

}  // namespace
}  // namespace ingot::test
