#include "checkpoint/run_lock.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "support/forwarding_storage.h"

namespace ingot {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr RunLock::Times kNeverRenewed{.renewal = std::chrono::hours(1), .lease = milliseconds(50)};
const std::string kOwner = "run/owner.json";

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Storage);
    return error.what();
  }
  return "";
}

class RunLockTest : public ::testing::Test {
 protected:
  RunLockTest() { storage_->make_directories("run"); }
  Json owner() const { return Json::parse(read_text(*storage_, kOwner)); }
  void write_owner(const Json& record) const {
    write_file_atomically(*storage_, kOwner, record.dump());
  }

  std::shared_ptr<Storage> storage_ = memory_storage();
};

TEST_F(RunLockTest, NamesItsOwnerAndLetsGoAtTheEnd) {
  {
    const RunLock lock(storage_, "run");
    EXPECT_EQ(owner().at("pid"), ::getpid());
    const std::string refusal = message_of([&] { RunLock(storage_, "run"); });
    EXPECT_NE(refusal.find(fmt::format("in use by process {} on host {}, since {}", ::getpid(),
                                       owner().at("host").get<std::string>(),
                                       owner().at("since").get<std::string>())),
              std::string::npos)
        << refusal;
    EXPECT_NO_THROW(lock.check_held());
  }
  EXPECT_FALSE(storage_->exists(kOwner));
  EXPECT_NO_THROW(RunLock(storage_, "run"));
}

TEST_F(RunLockTest, ADeadOwnerOfThisMachineIsReplacedAtOnce) {
  Json record;
  {
    const RunLock lock(storage_, "run");
    record = owner();
  }
  write_owner(record);  // as if it had been killed
  const RunLock::Times patient{.renewal = std::chrono::hours(1), .lease = std::chrono::hours(1)};
  RunLock lock(storage_, "run", patient);
  EXPECT_NE(owner().at("id"), record.at("id"));
  EXPECT_NO_THROW(lock.check_held_now());
}

TEST_F(RunLockTest, AnotherHostsOwnerThatIsNotRenewedIsReplacedAfterTheLease) {
  write_owner({{"host", "far"}, {"machine", "other"}, {"pid", 7}, {"renewals", 3}});
  const RunLock lock(storage_, "run", kNeverRenewed);
  EXPECT_EQ(owner().at("pid"), ::getpid());
}

// Calls back before each read.
class Watched : public test::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  std::unique_ptr<ReadableFile> open(const std::string& path) override {
    before_open();
    return ForwardingStorage::open(path);
  }
  std::function<void()> before_open = [] {};
};

TEST_F(RunLockTest, AnotherHostsOwnerThatRenewsKeepsTheFolder) {
  int64_t renewals = 0;
  const auto watched = std::make_shared<Watched>(storage_);
  watched->before_open = [&] {
    write_owner({{"host", "far"}, {"machine", "other"}, {"pid", 7}, {"renewals", ++renewals}});
  };
  const RunLock::Times patient{.renewal = std::chrono::hours(1), .lease = std::chrono::seconds(1)};
  const std::string refusal = message_of([&] { RunLock(watched, "run", patient); });
  EXPECT_NE(refusal.find("process 7 on host far"), std::string::npos) << refusal;
}

class WithoutLocks : public test::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  std::unique_ptr<StorageLock> try_lock(const std::string&, int64_t) override {
    throw Error(ErrorCode::Storage, "no locks here");
  }
};

TEST_F(RunLockTest, WhereThereAreNoLocksRenewalsDecideAlone) {
  const auto lockless = std::make_shared<WithoutLocks>(storage_);
  const RunLock::Times renewed{.renewal = milliseconds(5), .lease = std::chrono::hours(1)};
  {
    const RunLock first(lockless, "run", renewed);
    EXPECT_NE(message_of([&] { RunLock(lockless, "run", renewed); }), "");
  }
  const RunLock stuck(lockless, "run", kNeverRenewed);
  EXPECT_NO_THROW(RunLock(lockless, "run", kNeverRenewed));
}

TEST_F(RunLockTest, ARemovedFolderIsNoticedAndNotMadeAgain) {
  RunLock looks(storage_, "run", kNeverRenewed);
  storage_->remove("run");
  EXPECT_NO_THROW(looks.check_held());
  EXPECT_NE(message_of([&] { looks.check_held_now(); }).find("was removed"), std::string::npos);
  EXPECT_THROW(looks.check_held(), Error);
  EXPECT_FALSE(storage_->exists("run"));
}

TEST_F(RunLockTest, ATakenOverFolderIsNoticedByTheRenewalsAndLeftAlone) {
  {
    const RunLock lock(storage_, "run", {.renewal = milliseconds(5), .lease = milliseconds(50)});
    write_owner({{"host", "far"}, {"machine", "other"}, {"pid", 7}, {"id", "other"}});
    std::string why;
    while (why.empty()) why = message_of([&] { lock.check_held(); });
    EXPECT_NE(why.find("taken over by process 7 on host far"), std::string::npos) << why;
  }
  EXPECT_EQ(owner().at("id"), "other");
}

}  // namespace
}  // namespace ingot
