#include "core/storage/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

// A mapping as a signal handler finds it. Records form a list that only grows and are used again
// once their mapping is gone; what they hold belongs to `begin_`, which is set last and cleared
// first.
class MappingRecord {
 public:
  static MappingRecord* add(const std::string& path, const char* begin, size_t size) {
    const std::lock_guard lock(mutex);
    MappingRecord* record = unused;
    if (record != nullptr) {
      unused = record->next_unused_;
    } else {
      record = new MappingRecord;
      record->older_ = newest.load();
      newest.store(record);
    }
    record->path_ = path;
    record->size_ = size;
    record->begin_.store(begin);
    return record;
  }

  void remove() {
    begin_.store(nullptr);
    const std::lock_guard lock(mutex);
    next_unused_ = std::exchange(unused, this);
  }

  static const MappingRecord* find(const char* address) noexcept {
    const MappingRecord* record = newest.load();
    while (record != nullptr && !record->holds(address)) record = record->older_;
    return record;
  }

  Mapping facts() const noexcept { return {path_.c_str(), size_}; }

 private:
  bool holds(const char* address) const noexcept {
    const char* begin = begin_.load();
    return begin != nullptr && address >= begin && address < begin + size_;
  }

  static_assert(std::atomic<const char*>::is_always_lock_free);
  static inline std::atomic<MappingRecord*> newest = nullptr;
  static inline MappingRecord* unused = nullptr;
  static inline std::mutex mutex;  // guards `unused`

  MappingRecord* older_ = nullptr;
  MappingRecord* next_unused_ = nullptr;
  std::atomic<const char*> begin_ = nullptr;
  std::string path_;
  size_t size_ = 0;
};

namespace {

// A descriptor that closes itself: the mapping outlives it.
struct Descriptor {
  int value;
  ~Descriptor() { ::close(value); }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Not to wait on a pipe's writer; a regular file knows no such waiting.
  const int opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  check(opened >= 0 || errno != ENOENT, ErrorCode::Data, "{}: no such file; check the path", path);
  check(opened >= 0, ErrorCode::Storage, "{}: cannot open: {}", path, std::strerror(errno));
  const Descriptor file{opened};
  struct stat status {};
  check(::fstat(file.value, &status) == 0, ErrorCode::Storage, "{}: cannot stat: {}", path,
        std::strerror(errno));
  check(S_ISREG(status.st_mode), ErrorCode::Data,
        "{}: expected a regular file, got a pipe, device or folder", path);
  check(status.st_size > 0, ErrorCode::Data, "{}: the file is empty; expected text or tokens",
        path);
  size_ = static_cast<size_t>(status.st_size);
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.value, 0);
  check(data != MAP_FAILED, ErrorCode::Storage,
        "{}: cannot map: {}; with tens of thousands of files, join them into larger ones", path,
        std::strerror(errno));
  data_ = static_cast<const char*>(data);
  if (log::is_verbose())
    log::debug("file", {{"mapped", path}, {"bytes", fmt::format("{}", size_)}});
  record_ = MappingRecord::add(path_, data_, size_);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  record_->remove();
  ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      record_(std::exchange(other.record_, nullptr)) {}

void MappedFile::release(size_t begin, size_t end) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = begin / page * page;
  // Only a hint: where the system ignores it, the pages stay reclaimable as they are.
  ::madvise(const_cast<char*>(data_) + first, end - first, MADV_DONTNEED);
}

uint64_t MappedFile::content_hash() const {
  if (static_cast<int64_t>(size_) <= kResidentBytes) return XXH3_64bits(data_, size_);
  constexpr size_t kPlaces = 64, kPlaceBytes = size_t{64} << 10;
  uint64_t hash = size_;
  for (size_t place = 0; place < kPlaces; ++place) {
    const size_t begin = (size_ - kPlaceBytes) / (kPlaces - 1) * place;
    hash = XXH3_64bits_withSeed(data_ + begin, kPlaceBytes, hash);
    release(begin, begin + kPlaceBytes);
  }
  return hash;
}

Mapping mapping_at(const void* address) noexcept {
  const MappingRecord* record = MappingRecord::find(static_cast<const char*>(address));
  return record == nullptr ? Mapping{nullptr, 0} : record->facts();
}

}  // namespace ingot
