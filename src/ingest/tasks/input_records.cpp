#include "ingest/tasks/input_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "core/device/thread_pool.h"
#include "core/error/log.h"
#include "ingest/read/input_content.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

using nlohmann::json;

// File systems keep times of 1 ns to 2 s.
constexpr int64_t kCoarsestTimeNs = 2'000'000'000;

// Where the bytes lie that a task would read; empty: on no disk of ours.
std::string local_path(const InputFile& file, const RemoteSettings& remote) {
  return is_remote(file.location) ? cached_copy(file.location, remote) : file.location;
}

// What the file holds now, as far as that can be compared with `was`.
InputContent content_now(const InputFile& file, const InputContent& was, const ReadSettings& read) {
  if (const std::string path = local_path(file, read.remote); !path.empty()) {
    return was.hash.empty() ? InputContent() : content_of_file(*read.storage, path);
  }
  if (never_changes(file.location)) return was;
  return was.version.empty() ? InputContent()
                             : InputContent{"", remote_version(file.location, read.remote)};
}

}  // namespace

std::vector<ContentRecord> records_of(const std::vector<InputContent>& contents) {
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  std::vector<ContentRecord> records;
  for (const InputContent& content : contents)
    records.push_back({unless_empty(content.hash), unless_empty(content.version)});
  return records;
}

std::vector<InputContent> contents_of(const std::vector<ContentRecord>& records) {
  std::vector<InputContent> contents;
  for (const ContentRecord& record : records)
    contents.push_back({record.hash.value_or(""), record.version.value_or("")});
  return contents;
}

bool differ(const InputContent& a, const InputContent& b) {
  if (!a.hash.empty() && !b.hash.empty()) return a.hash != b.hash;
  return !a.version.empty() && !b.version.empty() && a.version != b.version;
}

bool has_changed(const InputFile& file, const InputContent& was, const ReadSettings& read) {
  return differ(was, content_now(file, was, read));
}

Error changed_input(const std::string& location, const std::string& folder) {
  return {
      ErrorCode::Config,
      fmt::format("{}: its content has changed since it was read for {}: give another --out, or "
                  "remove that folder to begin anew",
                  location, folder)};
}

struct InputRecords::Stamps {
  std::vector<FileStamp> files;
  bool settled = true;  // a change from now on would show

  json to_json() const {
    json all = json::array();
    for (const FileStamp& stamp : files) all.push_back({stamp.bytes, stamp.mtime_ns, stamp.inode});
    return all;
  }
};

InputRecords::InputRecords(std::shared_ptr<Storage> storage, std::string folder,
                           std::vector<std::vector<InputFile>> files, ReadSettings read)
    : storage_(std::move(storage)),
      folder_(std::move(folder)),
      files_(std::move(files)),
      read_(std::move(read)) {}

void InputRecords::check(const TaskFolder& tasks, ProcessShare share, int64_t threads) const {
  std::vector<int64_t> finished;
  for (int64_t task = share.index; task < tasks.num_tasks(); task += share.count) {
    if (tasks.has_record(task)) finished.push_back(task);
  }
  const auto count = static_cast<int64_t>(finished.size());
  if (count == 0) return;
  std::vector<Outcome> outcomes(finished.size());
  std::vector<std::string> changed(finished.size());
  ThreadPool pool(static_cast<int>(std::clamp<int64_t>(threads, 1, count)));
  pool.run(count, [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    outcomes[at] = compare(finished[at], tasks, changed[at]);
  });
  for (const std::string& location : changed) {
    if (!location.empty()) throw changed_input(location, folder_);
  }
  const auto say = [&](Outcome outcome, const char* why) {
    const auto number = std::count(outcomes.begin(), outcomes.end(), outcome);
    if (number == 0) return;
    log::warn("inputs_not_compared",
              {{"folder", folder_}, {"tasks", std::to_string(number)}, {"why", why}});
  };
  say(Outcome::OfOlderProgram, "an older program did them, which kept no hashes of what it read");
  say(Outcome::NotComparable, "the server of the input names no version, or does not answer");
}

InputRecords::Outcome InputRecords::compare(int64_t task, const TaskFolder& tasks,
                                            std::string& changed) const {
  const auto contents = contents_of(task_record_of<TaskInputs>(tasks, task).inputs);
  const std::vector<InputFile>& files = files_of(task);
  if (contents.size() != files.size()) return Outcome::OfOlderProgram;
  const Stamps stamps = stamps_of(task);
  const json now = stamps.to_json(), kept = kept_stamps(task);
  Outcome outcome = Outcome::Same;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_known = stamps.files[i] != FileStamp() && kept.is_array() &&
                          kept.size() == files.size() && kept[i] == now[i];
    if (is_known) continue;
    const InputContent content = content_now(files[i], contents[i], read_);
    if (differ(contents[i], content)) {
      changed = files[i].location;
      return Outcome::Changed;
    }
    if (content.hash.empty() && content.version.empty()) outcome = Outcome::NotComparable;
  }
  if (outcome == Outcome::Same && kept != now) keep(task, stamps);
  return outcome;
}

TaskFolder::Work InputRecords::stamped(TaskFolder::Work work) const {
  return [this, work = std::move(work)](int64_t task) {
    const Stamps before = stamps_of(task);
    json record = work(task);
    keep(task, before);
    return record;
  };
}

InputRecords::Stamps InputRecords::stamps_of(int64_t task) const {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  Stamps stamps;
  for (const InputFile& file : files_of(task)) {
    stamps.files.push_back(stamp_of(local_path(file, read_.remote)));
    const FileStamp& stamp = stamps.files.back();
    stamps.settled &= stamp != FileStamp() && stamp.mtime_ns + kCoarsestTimeNs <= now;
  }
  return stamps;
}

json InputRecords::kept_stamps(int64_t task) const {
  const std::string path = path_of(task);
  if (!storage_->exists(path)) return {};
  json kept = json::parse(read_text(*storage_, path), nullptr, false);
  return kept.is_discarded() ? json() : kept;  // a discarded value differs from none
}

// Not synced: what a power cut leaves of it is no JSON, and the file is hashed.
void InputRecords::keep(int64_t task, const Stamps& stamps) const {
  if (!stamps.settled) return;
  const std::string text = stamps.to_json().dump() + "\n";
  const auto file = storage_->create(path_of(task));
  file->append(std::as_bytes(std::span(text)));
  file->close();
}

std::string InputRecords::path_of(int64_t task) const {
  return join_path(folder_, fmt::format("tasks/{:05}.stamp", task));
}

}  // namespace ingot
