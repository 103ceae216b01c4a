// Whether this process is one of several that a launcher started, by the variables it left.
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
  std::string rendezvous;               // as Process has it
  std::string secret;                   // INGOT_SECRET, whoever started it
};

// The value of a variable; null where it is not set.
using Variables = std::function<const char*(const char* name)>;
Variables environment();

// In this order: INGOT_RANK … of `ingot launch`; RANK, WORLD_SIZE, … as torchrun sets them;
// OMPI_COMM_WORLD_RANK … of Open MPI; SLURM_PROCID … of a step of srun. Nothing where there is none
// of them, or it started one process. Throws ErrorCode::Usage where one of them is there in part,
// or contradicts itself, where torchrun's and Open MPI's contradict each other, and for an MPI that
// is not supported.
std::optional<Launched> launched(const Variables& variables = environment());

// "RANK 3 of WORLD_SIZE 16 is used, not SLURM_PROCID 1 of SLURM_STEP_NUM_TASKS 2": where a step of
// srun has torchrun's variables, all of them; otherwise empty.
std::string passed_over(const Variables& variables = environment());

// The command by which torchrun starts `ingot COMMAND` as it did this rank.
std::string torchrun_command(const Launched& launched, const std::string& command,
                             const Variables& variables = environment());

// This process among those that share a job's work without exchanging anything: its rank and how
// many there are. Nothing where no launcher says so. Takes any MPI. Throws ErrorCode::Usage for
// nonsense.
struct ProcessNumber {
  int64_t index = 0, count = 1;
};
std::optional<ProcessNumber> process_number(const Variables& variables = environment());

// "K" of "N" from 0 to N-1; throws ErrorCode::Usage naming `origin`.
ProcessNumber parse_process(std::string_view index, std::string_view count,
                            std::string_view origin);

}  // namespace ingot::cli
