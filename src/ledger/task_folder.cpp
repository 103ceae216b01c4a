#include "ledger/task_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/json/json_member.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr size_t kMaxShown = 80;
constexpr auto kPollPause = std::chrono::milliseconds(100);

std::string shown(const json* value) {
  if (value == nullptr || value->is_null()) return "nothing";
  std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  return text;
}

// Throws naming the first place where they differ.
void expect_same(const json& begun, const json& wanted, const std::string& place,
                 const std::string& folder) {
  if (begun == wanted) return;
  if (begun.is_object() && wanted.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      const std::string inner = place.empty() ? key : place + "." + key;
      const auto found = begun.find(key);
      expect_same(found == begun.end() ? json() : *found, value, inner, folder);
    }
  } else if (begun.is_array() && wanted.is_array()) {
    for (size_t i = 0; i < std::min(begun.size(), wanted.size()); ++i) {
      expect_same(begun[i], wanted[i], fmt::format("{}[{}]", place, i), folder);
    }
  }
  throw Error(
      ErrorCode::Config,
      fmt::format("{} was begun with {}: {}, now it is {}: use the same settings and "
                  "inputs to continue, or another folder",
                  folder, place.empty() ? "other settings" : place, shown(&begun), shown(&wanted)));
}

std::string name_of(int64_t task, std::string_view ending) {
  return fmt::format("{:05}.{}", task, ending);
}

// Unlike those of other calls, processes and machines.
std::string own_suffix() {
  static const uint64_t process = [] {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }();
  static std::atomic<uint64_t> calls = 0;
  return fmt::format(".{:016x}-{}", process, calls++);
}

}  // namespace

void publish_file(Storage& storage, const std::string& path, std::string_view contents) {
  const std::string own = path + own_suffix();
  const auto file = storage.create(own);
  file->append(std::as_bytes(std::span(contents)));
  file->sync();
  file->close();
  storage.rename(own, path);
  storage.sync_directory(parent_path(path));
}

TaskFolder::TaskFolder(std::shared_ptr<Storage> storage, std::string folder,
                       const json& description, int64_t num_tasks)
    : storage_(std::move(storage)), folder_(std::move(folder)), num_tasks_(num_tasks) {
  known_finished_.resize(static_cast<size_t>(num_tasks));
  storage_->make_directories(join_path(folder_, "tasks"));
  json stage = description;
  stage["tasks"] = num_tasks;
  const std::string path = join_path(folder_, "stage.json");
  if (!storage_->exists(path)) publish_file(*storage_, path, stage.dump(1) + "\n");
  const json begun = json::parse(read_text(*storage_, path), nullptr, false);
  check(begun.is_object(), ErrorCode::Data,
        "{}: expected a JSON object, got something else: remove the folder to begin anew", path);
  // What says most first: the rest differs because of it.
  for (const char* key : {"stage", "num_files"})
    if (begun.contains(key) && stage.contains(key))
      expect_same(begun[key], stage[key], key, folder_);
  expect_same(begun, stage, "", folder_);
  for (const std::string& name : storage_->list(join_path(folder_, "tasks"))) {
    if (name.ends_with(".error")) old_errors_[name] = read_error(name);
  }
}

void TaskFolder::run(ProcessShare share, int64_t threads, const Work& work,
                     const Progress& progress) {
  check(share.count >= 1 && share.index >= 0 && share.index < share.count, ErrorCode::Usage,
        "process: expected an index below the count, got {} of {}", share.index, share.count);
  std::vector<int64_t> left;
  for (int64_t task = share.index; task < num_tasks_; task += share.count) left.push_back(task);
  const auto total = static_cast<int64_t>(left.size());
  const auto keep_unfinished = [&] {
    std::erase_if(left, [this](int64_t task) { return has_record(task); });
    return !left.empty();
  };
  keep_unfinished();
  auto done = total - static_cast<int64_t>(left.size());
  if (progress) progress(done, total);
  std::mutex mutex;  // guards `done` and calls of `progress`
  std::optional<log::Wait> wait;
  while (keep_unfinished()) {
    const int64_t count = run_free(left, threads, work, [&] {
      const std::lock_guard lock(mutex);
      ++done;
      if (progress) progress(done, total);
    });
    if (count > 0) {
      wait.reset();
    } else {  // others are at all of them
      if (!wait) wait.emplace("tasks of other processes");
      std::this_thread::sleep_for(kPollPause);
    }
  }
}

int64_t TaskFolder::help(int64_t threads, const Work& work) {
  std::vector<int64_t> left;
  for (int64_t task = 0; task < num_tasks_; ++task) {
    if (known_finished_[static_cast<size_t>(task)] || has_record(task)) continue;
    const std::string name = name_of(task, "error"), error = read_error(name);
    const auto old = old_errors_.find(name);
    const bool is_new = !error.empty() && (old == old_errors_.end() || old->second != error);
    check(!is_new, ErrorCode::Data, "stopped, as another process failed: {}",
          error.substr(0, error.find('\n')));
    left.push_back(task);
  }
  return run_free(left, threads, work, [] {});
}

int64_t TaskFolder::run_free(const std::vector<int64_t>& tasks, int64_t threads, const Work& work,
                             const std::function<void()>& on_done) {
  const auto is_free = [this](int64_t task) { return try_lock(task) != nullptr; };
  if (std::none_of(tasks.begin(), tasks.end(), is_free)) return 0;  // as most calls while waiting
  std::atomic<bool> failed = false;
  std::atomic<int64_t> count = 0;
  ThreadPool pool(static_cast<int>(threads));
  pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t i, int) {
    if (failed) return;
    const int64_t task = tasks[static_cast<size_t>(i)];
    const auto lock = try_lock(task);
    if (lock == nullptr || has_record(task)) return;
    try {
      run_one(task, work);
    } catch (...) {
      failed = true;
      throw;
    }
    ++count;
    on_done();
  });
  return count;
}

void TaskFolder::run_one(int64_t task, const Work& work) {
  json record;
  try {
    record = work(task);
  } catch (const Error& error) {
    note_error(task, error.what());
    throw;
  }
  record["task"] = task;
  publish_file(*storage_, path_of(task, "json"), record.dump() + "\n");
  if (const std::string path = path_of(task, "error"); storage_->exists(path)) {
    storage_->remove(path);
  }
}

std::unique_ptr<StorageLock> TaskFolder::try_lock(int64_t place) const {
  return storage_->try_lock(join_path(folder_, "tasks/lock"), place);
}

std::unique_ptr<StorageLock> TaskFolder::lock_end() const {
  const log::Wait wait("the lock of a stage's end");
  for (;;) {
    if (auto lock = try_lock(num_tasks_)) return lock;
    std::this_thread::sleep_for(kPollPause);
  }
}

std::string TaskFolder::read_error(const std::string& name) const {
  const std::string path = join_path(join_path(folder_, "tasks"), name);
  try {
    return storage_->exists(path) ? read_text(*storage_, path) : "";
  } catch (const Error&) {
    return "";  // somebody has done the task in this moment
  }
}

void TaskFolder::note_error(int64_t task, const char* message) const {
  try {  // the suffix tells it from the same error in another run
    publish_file(*storage_, path_of(task, "error"), fmt::format("{}\n{}\n", message, own_suffix()));
  } catch (const Error&) {
    // The task's own error is the one to report.
  }
}

int64_t TaskFolder::num_finished() {
  int64_t count = 0;
  for (int64_t task = 0; task < num_tasks_; ++task) {
    const auto i = static_cast<size_t>(task);
    if (!known_finished_[i]) known_finished_[i] = has_record(task);
    count += known_finished_[i];
  }
  return count;
}

json TaskFolder::record(int64_t task) const {
  json record;
  if (const std::string path = path_of(task, "json"); storage_->exists(path)) {
    record = json::parse(read_text(*storage_, path), nullptr, false);
  }
  const bool whole = record.is_object() && record.value("task", json()) == task;
  check(whole, ErrorCode::Data, "{}: expected the record of task {}, got none: run again",
        path_of(task, "json"), task);
  return record;
}

void TaskFolder::read_record(int64_t task, const std::function<void(const json&)>& read) const {
  const json its_record = record(task);
  try {
    read(its_record);
  } catch (const MemberError& error) {
    throw Error(ErrorCode::Data, fmt::format("{}: not as this stage writes it ({}): remove it "
                                             "and run again",
                                             path_of(task, "json"), error.what()));
  }
}

bool TaskFolder::has_record(int64_t task) const {
  try {
    record(task);
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Data) return false;
    throw;
  }
}

std::string TaskFolder::path_of(int64_t task, std::string_view ending) const {
  return join_path(join_path(folder_, "tasks"), name_of(task, ending));
}

}  // namespace ingot
