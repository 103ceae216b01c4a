#include "parallel/comm/mpi/mpi_library.h"

#include <atomic>
#include <future>
#include <thread>

#include "core/foreign_error.h"
#include "core/module.h"
#include "parallel/comm/deadlines.h"

namespace ingot {
namespace {

// Those that failed too come soon.
constexpr Patience kMoment = std::chrono::seconds(5);

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

MpiLibrary& load() {
  const std::string needs =
      "MPI needs Open MPI (Debian packages openmpi-bin and libopenmpi-dev; then cmake --preset cpu "
      "or cuda, and build again) and our module for it";
  void* function = load_module_function(kMpiModule, kMpiFunction, needs);
  MpiLibrary* library = nullptr;
  try {
    library = reinterpret_cast<MpiFunction*>(function)();
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

MpiLibrary& mpi_library() {
  static MpiLibrary& library = load();
  return library;
}

void mpi_failed() {
  leave().failed = true;
}

}  // namespace ingot
