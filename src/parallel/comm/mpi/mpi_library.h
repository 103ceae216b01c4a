// The interface of the module libingot_mpi.so, the only code that links MPI. It is loaded on
// request, so that the program starts on machines without MPI.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "parallel/comm/deadlines.h"

namespace ingot {

inline constexpr char kMpiModule[] = "libingot_mpi.so";
inline constexpr char kMpiFunction[] = "ingot_mpi_library";

// One message in flight. The caller keeps its memory until MPI is done with it. The destructor does
// not wait.
class MpiTransfer {
 public:
  virtual ~MpiTransfer() = default;
  virtual bool done() = 0;      // does not wait; also advances MPI's other messages
  virtual bool withdraw() = 0;  // true: MPI will not access the memory any more
};

// Call any function from any thread. All throw std::runtime_error with MPI's message.
class MpiLibrary {
 public:
  virtual ~MpiLibrary() = default;
  virtual int rank() const = 0;  // among all processes of the launcher
  virtual int size() const = 0;
  virtual int max_tag() const = 0;

  // Matched by (rank, tag), in issue order. At most 2³¹ - 1 bytes.
  virtual std::unique_ptr<MpiTransfer> send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::unique_ptr<MpiTransfer> receive(std::span<std::byte> bytes, int from, int tag) = 0;

  // Waits until all ranks have called it. No other function may be called after it.
  virtual void finalize() = 0;
};
// Initialises MPI at the first call; returns null if MPI does not support threads.
using MpiFunction = MpiLibrary*();

// Timeout of MPI_Init, which waits for every process of the launcher.
struct MpiStart {
  Timeout timeout = Deadlines{}.start;
  std::string host = "this machine";  // for the error
};

// Loads the module and initialises MPI. Throws ErrorCode::Missing with how to install it, and
// ErrorCode::Comm if MPI_Init times out; MPI_Init then keeps running.
MpiLibrary& mpi_library(const MpiStart& start = {});

// At its end the process calls MPI_Finalize, in which ranks wait for each other: launchers treat a
// process that exits without it as crashed. After mpi_failed() it waits only a few seconds for the
// others, which may be gone.
void mpi_failed();

}  // namespace ingot
