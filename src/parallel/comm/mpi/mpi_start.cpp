#include "parallel/comm/mpi/mpi_start.h"

#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "parallel/comm/host_plane.h"
#include "parallel/comm/mpi/mpi_library.h"
#include "parallel/comm/mpi/mpi_wait.h"

namespace ingot {
namespace {

constexpr int kTag = 0;  // channels count from 1

void wait_for(MpiTransfer& transfer, std::chrono::steady_clock::time_point end, int other) {
  MpiPause pause;
  while (!transfer.done()) {
    if (std::chrono::steady_clock::now() >= end) {
      mpi_failed();
      throw Error(ErrorCode::Comm,
                  fmt::format("the start of the run by MPI: rank {} does not answer", other))
          .on_rank(other);
    }
    pause.rest();
  }
}

}  // namespace

void check_mpi_process(const Process& process, Timeout timeout) {
  const MpiLibrary& mpi = mpi_library({timeout, machine_name(process)});
  check(mpi.rank() == process.rank && mpi.size() == process.world, ErrorCode::Config,
        "MPI: this process is rank {} of {}, and MPI takes it for {} of {}; start the run with the "
        "mpirun of the Open MPI that it was built with, or set system.backend = \"tcp\"",
        process.rank, process.world, mpi.rank(), mpi.size());
}

std::string mpi_broadcast_text(const std::string& own, const Process& process, Timeout timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  MpiLibrary& mpi = mpi_library({timeout, machine_name(process)});
  static std::array<char, 1024> room;  // static: what is not taken in time is not taken back
  check(own.size() < room.size(), ErrorCode::Internal, "MPI: expected a text of less than {} bytes",
        room.size());
  const auto bytes = std::as_writable_bytes(std::span(room));
  try {
    if (mpi.rank() == 0) {
      std::fill(std::copy(own.begin(), own.end(), room.begin()), room.end(), '\0');
      for (int rank = 1; rank < mpi.size(); ++rank)
        wait_for(*mpi.send(bytes, rank, kTag), end, rank);
    } else {
      wait_for(*mpi.receive(bytes, 0, kTag), end, 0);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(ErrorCode::Comm, fmt::format("MPI: {}", error.what()));
  }
  return room.data();
}

}  // namespace ingot
