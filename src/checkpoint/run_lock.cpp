#include "checkpoint/run_lock.h"

#include <fmt/chrono.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::chrono::milliseconds kPause(50);  // between two looks at another owner's record

struct Owner {
  std::string host;
  std::string machine;  // one boot of one kernel; containers on it share locks and this
  int64_t pid = 0;
  std::string since;
  std::string id;  // no other owner's: process ids come again, in containers at once
  int64_t renewals = 0;
};

Owner this_process() {
  Owner owner;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) owner.host = host.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> owner.machine;
  owner.pid = ::getpid();
  std::random_device random;
  owner.id = hex(uint64_t{random()} << 32 | random());
  owner.since = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
  return owner;
}

std::string to_text(const Owner& owner) {
  return Json{{"host", owner.host},   {"machine", owner.machine}, {"pid", owner.pid},
              {"since", owner.since}, {"id", owner.id},           {"renewals", owner.renewals}}
      .dump();
}

// What is no record names nobody: whether its writer lives, its lock and its renewals say.
Owner parse_owner(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  Owner owner;
  if (!json.is_object()) return owner;
  const auto read = [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (found->is_string()) value = found->get<std::string>();
    } else {
      if (found->is_number_integer()) value = found->get<int64_t>();
    }
  };
  read("host", owner.host);
  read("machine", owner.machine);
  read("pid", owner.pid);
  read("since", owner.since);
  read("id", owner.id);
  read("renewals", owner.renewals);
  return owner;
}

bool lives_here(const Owner& owner, const Owner& own) {
  return owner.machine == own.machine && owner.pid > 0 &&
         (::kill(static_cast<pid_t>(owner.pid), 0) == 0 || errno == EPERM);
}

}  // namespace

struct RunLock::Impl {
  std::shared_ptr<Storage> storage;
  std::string dir;
  Times times;
  Owner own = this_process();
  std::unique_ptr<StorageLock> lock;
  bool has_locks = true;  // the file system

  std::mutex mutex;  // of what follows, and of `own.renewals`
  std::condition_variable changed;
  bool done = false;
  std::string lost_why;
  std::atomic<bool> lost = false;
  std::jthread renewer;

  std::string owner_path() const { return join_path(dir, "owner.json"); }

  // Nothing when there is none; other failures throw.
  std::optional<Owner> read_owner() const {
    try {
      return parse_owner(read_text(*storage, owner_path()));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Data) return std::nullopt;
      throw;
    }
  }

  void try_lock() {
    if (!has_locks || lock) return;
    try {
      lock = storage->try_lock(join_path(dir, ".lock"), 0);
    } catch (const Error& error) {
      // Better the slower proof that nobody else is there than no run at all.
      has_locks = false;
      log::warn("run_folder_without_locks", {{"why", error.what()}});
    }
  }

  [[noreturn]] void refuse(const std::optional<Owner>& owner) const {
    const std::string who = owner ? fmt::format("process {} on host {}, since {}", owner->pid,
                                                owner->host, owner->since)
                                  : "another process";
    throw Error(ErrorCode::Storage,
                fmt::format("{} is in use by {}: wait for it or stop it, or set checkpoint.dir to "
                            "another folder",
                            dir, who));
  }

  // Returns when nobody else has the folder.
  void acquire() {
    std::optional<Owner> watched;
    auto end = Clock::now() + times.lease;
    for (;; std::this_thread::sleep_for(std::min(kPause, times.lease / 100))) {
      try_lock();
      const std::optional<Owner> owner = read_owner();
      if (lock && (!owner || owner->machine == own.machine)) return;
      if (!has_locks && !owner) return;
      if (has_locks && !lock && owner && lives_here(*owner, own)) refuse(owner);
      if (owner && !watched) {
        watched = owner;
        end = Clock::now() + times.lease;
        log::info("run_folder_waits",
                  {{"dir", dir},
                   {"for", fmt::format("{} on {}", owner->pid, owner->host)},
                   {"at_most", fmt::format("{} s", times.lease.count() / 1000)}});
      }
      if (owner && to_text(*owner) != to_text(*watched)) refuse(owner);
      if (Clock::now() < end) continue;
      if (lock || !has_locks) return;
      refuse(owner);
    }
  }

  // Not synced: what a crash loses of it says that there was a crash.
  void write_owner() {
    const std::string aside = join_path(dir, ".owner.json.tmp");
    const std::string text = to_text(own);
    const auto file = storage->create(aside);
    file->append(std::as_bytes(std::span(text)));
    file->close();
    storage->rename(aside, owner_path());
  }

  // Called with the mutex held.
  void look() {
    if (lost) return;
    const std::optional<Owner> owner = read_owner();
    if (owner && owner->id == own.id) return;
    lost_why = owner ? fmt::format(
                           "{} was taken over by process {} on host {}, since {}, while "
                           "this run did not renew its claim to it: leave it to that one",
                           dir, owner->pid, owner->host, owner->since)
                     : fmt::format(
                           "{} was removed or moved while the run wrote to it: what was trained "
                           "since the last checkpoint is lost; start again, or restore "
                           "the folder and --resume",
                           dir);
    lost = true;
  }

  void renew() {
    look();
    if (lost) return;
    ++own.renewals;
    write_owner();
  }

  void keep_renewing() {
    std::unique_lock hold(mutex);
    while (!changed.wait_for(hold, times.renewal, [&] { return done; })) {
      try {
        renew();
      } catch (
          const std::exception& error) {  // a full disk, a server that does not answer: it may pass
        log::warn("run_folder_not_renewed", {{"dir", dir}, {"why", error.what()}});
      }
    }
  }

  void release() noexcept {
    try {
      const std::optional<Owner> owner = read_owner();
      if (owner && owner->id == own.id) storage->remove(owner_path());
    } catch (const std::exception&) {
      // The lock goes with the process; the next owner finds this one gone.
    }
  }
};

RunLock::RunLock(std::shared_ptr<Storage> storage, std::string dir, Times times)
    : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::move(storage);
  impl_->dir = std::move(dir);
  impl_->times = times;
  impl_->acquire();
  impl_->write_owner();
  impl_->renewer = std::jthread([impl = impl_.get()] { impl->keep_renewing(); });
}

RunLock::~RunLock() {
  {
    const std::lock_guard hold(impl_->mutex);
    impl_->done = true;
  }
  impl_->changed.notify_all();
  impl_->renewer.join();
  impl_->release();
}

void RunLock::check_held() const {
  if (!impl_->lost.load(std::memory_order_relaxed)) return;
  const std::lock_guard hold(impl_->mutex);
  throw Error(ErrorCode::Storage, impl_->lost_why);
}

void RunLock::check_held_now() {
  {
    const std::lock_guard hold(impl_->mutex);
    impl_->look();
  }
  check_held();
}

}  // namespace ingot
