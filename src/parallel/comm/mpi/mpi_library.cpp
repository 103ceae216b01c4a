#include "parallel/comm/mpi/mpi_library.h"

#include <atomic>
#include <future>
#include <thread>

#include "core/error/foreign_error.h"
#include "core/system/module.h"

namespace ingot {
namespace {

// Those that failed too come soon.
constexpr Timeout kMoment = std::chrono::seconds(5);

// Lives from the first use of MPI to the end of the process.
struct Leave {
  MpiLibrary* library = nullptr;
  std::atomic<bool> failed = false;

  ~Leave() {
    if (library == nullptr) return;
    // A thread of its own, since MPI_Finalize cannot be told how long to wait; what is left of it
    // goes with the process.
    auto over = std::make_shared<std::promise<void>>();
    const std::future<void> left = over->get_future();
    std::thread([over, mpi = library] {
      try {
        mpi->finalize();
      } catch (const std::exception&) {  // NOLINT: there is nobody left to tell
      }
      over->set_value();
    }).detach();
    left.wait_for(failed ? kMoment : Deadlines{}.collective);
  }
};
Leave& leave() {
  static Leave leave;
  return leave;
}

using Begun = std::shared_future<MpiLibrary*>;

// MPI_Init on a thread of its own, since it cannot be told how long to wait.
Begun begin() {
  const std::string needs =
      "MPI needs Open MPI (Debian package openmpi-bin; to build with it libopenmpi-dev) and our "
      "module for it";
  auto* function =
      reinterpret_cast<MpiFunction*>(load_module_function(kMpiModule, kMpiFunction, needs));
  auto library = std::make_shared<std::promise<MpiLibrary*>>();
  const Begun begun = library->get_future().share();
  std::thread([library, function] {
    try {
      library->set_value(function());
    } catch (...) {
      library->set_exception(std::current_exception());
    }
  }).detach();
  return begun;
}

MpiLibrary& through(const Begun& begun, const MpiStart& start) {
  check(begun.wait_for(start.timeout) == std::future_status::ready, ErrorCode::Comm,
        "MPI_Init on host {} did not end within {:.1f} s: it waits for every process that the "
        "launcher "
        "started. Check that all of them run (one that is stopped, or waits for something before "
        "it starts, is waited for), that their hosts reach each other on the networks that MPI "
        "takes (--mca btl_tcp_if_include, --mca oob_tcp_if_include), and that the same Open MPI "
        "is on all; system.timeout_start is the limit",
        start.host, std::chrono::duration<double>(start.timeout).count());
  MpiLibrary* library = nullptr;
  try {
    library = begun.get();
  } catch (const std::runtime_error& error) {
    throw Error(ErrorCode::Comm, fmt::format("MPI did not start: {}", error.what()));
  }
  check(library != nullptr, ErrorCode::Missing,
        "MPI: expected one that works beside threads (MPI_THREAD_SERIALIZED); use another build of "
        "it, or system.backend = \"tcp\"");
  leave().library = library;
  return *library;
}

}  // namespace

MpiLibrary& mpi_library(const MpiStart& start) {
  static const Begun begun = begin();
  return through(begun, start);
}

void mpi_failed() {
  leave().failed = true;
}

}  // namespace ingot
