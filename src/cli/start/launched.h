// Whether a launcher started this process as one of several, from the variables that it sets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

struct Launched {
  std::string by;  // "ingot launch", "torchrun", "mpirun", "srun"
  int rank = 0, world = 1;
  int local_rank = 0, local_world = 1;  // among the processes of this machine
  std::string rendezvous;               // as in Process
  std::string secret;                   // INGOT_SECRET, under any launcher
};

// The value of a variable; null if it is not set.
using Variables = std::function<const char*(const char* name)>;
Variables environment();

// Looks for variables in this order: INGOT_RANK … of `ingot launch`; RANK, WORLD_SIZE, … of
// torchrun; OMPI_COMM_WORLD_RANK … of Open MPI; SLURM_PROCID … of a step of srun. Nothing if there
// are none, or if the launcher started one process. Throws ErrorCode::Usage if the variables of a
// launcher are incomplete or contradict each other, if torchrun's and Open MPI's contradict each
// other, and for an MPI that is not supported.
std::optional<Launched> launched(const Variables& variables = environment());

// "RANK 3 of WORLD_SIZE 16 is used, not SLURM_PROCID 1 of SLURM_STEP_NUM_TASKS 2", if a step of
// srun has all of torchrun's variables; otherwise empty.
std::string passed_over(const Variables& variables = environment());

// The torchrun command that starts `ingot COMMAND` in the way that this rank was started.
std::string torchrun_command(const Launched& launched, const std::string& command,
                             const Variables& variables = environment());

// This process among those that share the work of a data job without communicating.
// Nothing without a launcher. Accepts any MPI. Throws ErrorCode::Usage for invalid
// variables.
struct ProcessNumber {
  int64_t index = 0, count = 1;
};
std::optional<ProcessNumber> process_number(const Variables& variables = environment());

// Parses K of N, with K from 0 to N-1. Throws ErrorCode::Usage naming `origin`.
ProcessNumber parse_process(std::string_view index, std::string_view count,
                            std::string_view origin);

}  // namespace ingot::cli
