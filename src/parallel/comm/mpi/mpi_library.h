// What the module libingot_mpi.so offers: the only code that links MPI. It is loaded when MPI is
// asked for, so that the program starts without it, and on machines that do not have it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "parallel/comm/deadlines.h"

namespace ingot {

inline constexpr char kMpiModule[] = "libingot_mpi.so";
inline constexpr char kMpiFunction[] = "ingot_mpi_library";

// One message in flight, of memory that the caller keeps until MPI is done with it. Not waited for
// when it is destroyed.
class MpiTransfer {
 public:
  virtual ~MpiTransfer() = default;
  virtual bool done() = 0;      // does not wait; also lets MPI's other messages go on
  virtual bool withdraw() = 0;  // true: MPI will not touch the memory any more
};

// Every function may be called from any thread and throws std::runtime_error with MPI's words.
class MpiLibrary {
 public:
  virtual ~MpiLibrary() = default;
  virtual int rank() const = 0;  // of all that the launcher started
  virtual int size() const = 0;
  virtual int max_tag() const = 0;

  // Matched by (rank, tag), in the order of issue. At most 2³¹ - 1 bytes.
  virtual std::unique_ptr<MpiTransfer> send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::unique_ptr<MpiTransfer> receive(std::span<std::byte> bytes, int from, int tag) = 0;

  // Waits for all ranks to call it. None of the above may be called after it.
  virtual void finalize() = 0;
};
// Initialises MPI at the first call; returns null where it cannot work beside threads.
using MpiFunction = MpiLibrary*();

// How long MPI_Init may take, which waits for every process that the launcher started.
struct MpiStart {
  Patience timeout = Deadlines{}.start;
  std::string host = "this machine";  // for the error
};

// Loads the module and initialises MPI. Throws ErrorCode::Missing, saying how to get it, and
// ErrorCode::Comm where MPI_Init is not through in time; it then stays under way.
MpiLibrary& mpi_library(const MpiStart& start = {});

// When the process ends it takes leave of MPI (MPI_Finalize), in which ranks wait for each other:
// the launcher takes a process that ends without it for one that crashed. After mpi_failed() the
// others, who may be gone, are waited for a few seconds only.
void mpi_failed();

}  // namespace ingot
