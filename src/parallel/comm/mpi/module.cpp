// The module libingot_mpi.so. It links nothing of ours: what it throws is std::runtime_error.
#include <dlfcn.h>
#include <mpi.h>

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "parallel/comm/mpi/mpi_library.h"

namespace ingot {
namespace {

void mpi_check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error(std::string(call) + ": " + text);
}

// Held around every call where MPI wants one thread at a time.
class CallLock {
 public:
  explicit CallLock(bool wanted) : wanted_(wanted) {}
  std::optional<std::unique_lock<std::mutex>> take() {
    if (!wanted_) return std::nullopt;
    return std::unique_lock(mutex_);
  }

 private:
  std::mutex mutex_;
  const bool wanted_;
};

class Transfer final : public MpiTransfer {
 public:
  Transfer(CallLock& lock, MPI_Request request, bool receives)
      : lock_(lock), request_(request), receives_(receives) {}

  bool done() override {
    const auto held = lock_.take();
    int over = 0;
    mpi_check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE), "MPI_Test");
    return over != 0;
  }

  // A receive that no message has met is cancelled; Open MPI cancels neither others nor sends.
  bool withdraw() override {
    const auto held = lock_.take();
    int over = 0;
    mpi_check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE), "MPI_Test");
    if (over == 0 && receives_) {
      mpi_check(MPI_Cancel(&request_), "MPI_Cancel");
      mpi_check(MPI_Test(&request_, &over, MPI_STATUS_IGNORE), "MPI_Test");
    }
    return over != 0;
  }

 private:
  CallLock& lock_;
  MPI_Request request_;
  const bool receives_;
};

class Library final : public MpiLibrary {
 public:
  explicit Library(int threads) : lock_(threads < MPI_THREAD_MULTIPLE) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    void* most = nullptr;
    int found = 0;
    mpi_check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found), "MPI_Comm_get_attr");
    if (found != 0) max_tag_ = *static_cast<int*>(most);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int max_tag() const override { return max_tag_; }

  std::unique_ptr<MpiTransfer> send(std::span<const std::byte> bytes, int to, int tag) override {
    const auto held = lock_.take();
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Isend");
    return std::make_unique<Transfer>(lock_, request, /*receives=*/false);
  }
  std::unique_ptr<MpiTransfer> receive(std::span<std::byte> bytes, int from, int tag) override {
    const auto held = lock_.take();
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag,
                        MPI_COMM_WORLD, &request),
              "MPI_Irecv");
    return std::make_unique<Transfer>(lock_, request, /*receives=*/true);
  }

  void finalize() override { mpi_check(MPI_Finalize(), "MPI_Finalize"); }

 private:
  CallLock lock_;
  int rank_ = 0, size_ = 1;
  int max_tag_ = 32767;  // what every MPI has
};

// Open MPI's own modules look for its symbols among the program's, where a module's libraries are
// not. Its name in this process is that of the symbol's home.
void show_to_all() {
  Dl_info home;
  if (dladdr(reinterpret_cast<void*>(&MPI_Init_thread), &home) != 0)
    dlopen(home.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

MpiLibrary* make_library() {
  show_to_all();
  int threads = MPI_THREAD_SINGLE;
  mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads), "MPI_Init_thread");
  // Never destroyed: messages may be in flight to the end of the process.
  return threads < MPI_THREAD_SERIALIZED ? nullptr : new Library(threads);
}

}  // namespace
}  // namespace ingot

extern "C" ingot::MpiLibrary* ingot_mpi_library() {
  static ingot::MpiLibrary* const library = ingot::make_library();
  return library;
}
