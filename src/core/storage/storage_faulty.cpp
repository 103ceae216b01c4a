#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/error/error.h"
#include "core/storage/storage.h"

namespace ingot {
namespace {

// A directory entry that a power cut may still take back.
struct Entry {
  std::string path;
  std::string from;                      // renames: where it came from; empty for a creation
  std::optional<std::string> overwrote;  // renames: what a file at `path` held before
};

// The path `path` has after the rename, which moves folders with all they hold.
std::string moved(const std::string& path, const std::string& from, const std::string& to) {
  if (path == from) return to;
  return path.starts_with(from + "/") ? to + path.substr(from.size()) : path;
}

// What a power cut would undo. All members are called with the storage's mutex held.
class Volatile {
 public:
  void opened(const std::string& path, int64_t durable_size) {
    durable_size_.try_emplace(path, durable_size);
  }
  void created(const std::string& path) {
    durable_size_[path] = 0;
    entries_.push_back({path, {}, {}});
  }
  void synced(const std::string& path, int64_t size) { durable_size_[path] = size; }
  void truncated(const std::string& path, int64_t size) { durable_size_[path] = size; }

  void renamed(const std::string& from, const std::string& to,
               std::optional<std::string> overwrote) {
    durable_size_.erase(to);
    move_all(from, to);
    entries_.push_back({to, from, std::move(overwrote)});
  }

  void removed(const std::string& path) {
    const auto gone = [&](const std::string& other) {
      return other == path || other.starts_with(path + "/");
    };
    std::erase_if(durable_size_, [&](const auto& file) { return gone(file.first); });
    std::erase_if(entries_, [&](const Entry& entry) { return gone(entry.path); });
  }

  void directory_synced(const std::string& directory) {
    const std::string parent = parent_path(join_path(directory, "entry"));
    std::erase_if(entries_, [&](const Entry& entry) { return parent_path(entry.path) == parent; });
  }

  void cut(Storage& base, bool forget_entries) {
    for (const auto& [path, size] : durable_size_) {
      if (base.exists(path) && base.open(path)->size() > size) base.truncate(path, size);
    }
    while (forget_entries && !entries_.empty()) {
      const Entry entry = std::move(entries_.back());
      entries_.pop_back();
      if (entry.from.empty()) {
        if (base.exists(entry.path)) base.remove(entry.path);
        continue;
      }
      base.rename(entry.path, entry.from);
      if (entry.overwrote) {
        base.create(entry.path)->append(std::as_bytes(std::span(*entry.overwrote)));
      }
      move_all(entry.path, entry.from);
    }
  }

 private:
  void move_all(const std::string& from, const std::string& to) {
    std::map<std::string, int64_t> sizes;
    for (const auto& [path, size] : durable_size_) sizes[moved(path, from, to)] = size;
    durable_size_ = std::move(sizes);
    for (Entry& entry : entries_) {
      entry.path = moved(entry.path, from, to);
      entry.from = moved(entry.from, from, to);
    }
  }

  std::map<std::string, int64_t> durable_size_;  // of files written through this storage
  std::vector<Entry> entries_;                   // oldest first
};

struct Machine {
  Machine(std::shared_ptr<Storage> storage, FaultPlan faults)
      : base(std::move(storage)), plan(faults), left(faults.operations_before_cut) {}

  const std::shared_ptr<Storage> base;
  const FaultPlan plan;
  std::mutex mutex;
  int64_t left;  // operations; negative: no cut is planned
  Volatile unsynced;

  // Runs one mutating operation, and cuts the power right after the last one of the budget.
  template <class F>
  void operate(const F& operation) {
    const std::lock_guard lock(mutex);
    check(left != 0, ErrorCode::Storage, "power cut: the storage is gone (planned by a test)");
    operation();
    if (left > 0 && --left == 0) unsynced.cut(*base, plan.forget_unsynced_entries);
  }
};

class FaultyWriter : public WritableFile {
 public:
  FaultyWriter(std::shared_ptr<Machine> machine, std::unique_ptr<WritableFile> file,
               std::string path)
      : machine_(std::move(machine)), file_(std::move(file)), path_(std::move(path)) {}

  void append(std::span<const std::byte> bytes) override {
    machine_->operate([&] { file_->append(bytes); });
  }
  void sync() override {
    machine_->operate([&] {
      file_->sync();
      machine_->unsynced.synced(path_, machine_->base->open(path_)->size());
    });
  }
  void close() override { file_->close(); }

 private:
  std::shared_ptr<Machine> machine_;
  std::unique_ptr<WritableFile> file_;
  std::string path_;
};

class FaultyStorage : public Storage {
 public:
  FaultyStorage(std::shared_ptr<Storage> base, FaultPlan plan)
      : machine_(std::make_shared<Machine>(std::move(base), plan)), base_(*machine_->base) {}

  std::unique_ptr<WritableFile> create(const std::string& path) override {
    std::unique_ptr<WritableFile> file;
    machine_->operate([&] { file = create_unlocked(path); });
    return file;
  }

  std::unique_ptr<WritableFile> open_append(const std::string& path) override {
    std::unique_ptr<WritableFile> file;
    machine_->operate([&] {
      if (base_.exists(path)) {
        machine_->unsynced.opened(path, base_.open(path)->size());
        file = writer(base_.open_append(path), path);
      } else {
        file = create_unlocked(path);
      }
    });
    return file;
  }

  void rename(const std::string& from, const std::string& to) override {
    machine_->operate([&] {
      std::optional<std::string> overwrote;
      if (base_.exists(to) && is_file(to)) overwrote = read_text(base_, to);
      base_.rename(from, to);
      machine_->unsynced.renamed(from, to, std::move(overwrote));
    });
  }

  void remove(const std::string& path) override {
    if (base_.exists(path) && !is_file(path)) {
      // No file system promises an order; the reverse one leaves what is listed first for last.
      const std::vector<std::string> names = base_.list(path);
      for (auto name = names.rbegin(); name != names.rend(); ++name) remove(join_path(path, *name));
    }
    machine_->operate([&] {
      base_.remove(path);
      machine_->unsynced.removed(path);
    });
  }

  void truncate(const std::string& path, int64_t size) override {
    machine_->operate([&] {
      base_.truncate(path, size);
      machine_->unsynced.truncated(path, size);
    });
  }

  void sync_directory(const std::string& path) override {
    machine_->operate([&] {
      base_.sync_directory(path);
      machine_->unsynced.directory_synced(path);
    });
  }

  void make_directories(const std::string& path) override {
    machine_->operate([&] { base_.make_directories(path); });
  }

  std::unique_ptr<ReadableFile> open(const std::string& path) override { return base_.open(path); }
  bool exists(const std::string& path) override { return base_.exists(path); }
  std::vector<std::string> list(const std::string& directory) override {
    return base_.list(directory);
  }
  std::unique_ptr<StorageLock> try_lock(const std::string& path, int64_t number) override {
    return base_.try_lock(path, number);  // nothing of it is data
  }

 private:
  std::unique_ptr<WritableFile> writer(std::unique_ptr<WritableFile> file,
                                       const std::string& path) const {
    return std::make_unique<FaultyWriter>(machine_, std::move(file), path);
  }

  std::unique_ptr<WritableFile> create_unlocked(const std::string& path) {
    const bool existed = base_.exists(path);
    auto file = base_.create(path);
    if (existed) {
      machine_->unsynced.truncated(path, 0);
    } else {
      machine_->unsynced.created(path);
    }
    return writer(std::move(file), path);
  }

  bool is_file(const std::string& path) const {
    try {
      base_.open(path);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  std::shared_ptr<Machine> machine_;
  Storage& base_;
};

}  // namespace

std::shared_ptr<Storage> faulty_storage(std::shared_ptr<Storage> base, FaultPlan plan) {
  return std::make_shared<FaultyStorage>(std::move(base), plan);
}

}  // namespace ingot
