#include "cli/start/launched.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/start/nodelist.h"
#include "core/error/error.h"

namespace ingot::cli {
namespace {

// Where a rank's number among others stands.
struct Names {
  const char *by, *rank, *world, *local_rank, *local_world;
};
constexpr Names kIngot = {"ingot launch", "INGOT_RANK", "INGOT_WORLD", "INGOT_LOCAL_RANK",
                          "INGOT_LOCAL_WORLD"};
constexpr Names kTorch = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Names kOpenMpi = {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr const char *kSlurmRank = "SLURM_PROCID", *kSlurmWorld = "SLURM_STEP_NUM_TASKS";
// Set by srun but not in a batch script, which has a SLURM_PROCID too and yet is alone.
constexpr std::array kSlurmStep = {kSlurmWorld, "SLURM_STEP_TASKS_PER_NODE", "SLURM_STEP_NODELIST"};

// Below the ports that systems hand out by themselves.
constexpr uint64_t kFirstPort = 16000, kNumPorts = 16000;

std::optional<int64_t> parse_whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  bool has(const char* name) const { return get(name) != nullptr; }
  // Empty counts as not set.
  const char* get(const char* name) const {
    const char* value = variables_(name);
    return value == nullptr || *value == '\0' ? nullptr : value;
  }
  std::string text(const char* name) const { return has(name) ? get(name) : ""; }

  std::string wanted(const char* name, std::string_view by) const {
    check(has(name), ErrorCode::Usage,
          "{} is not set and other variables of {} are: set it too, or start the run by ingot "
          "launch",
          name, by);
    return get(name);
  }

  // The process K of N of two variables.
  std::pair<int, int> number(const char* index, const char* count, std::string_view by) const {
    const std::string k = wanted(index, by), n = wanted(count, by);
    const ProcessNumber read = parse_process(k, n, fmt::format("{} and {}", index, count));
    return {static_cast<int>(read.index), static_cast<int>(read.count)};
  }

  Launched ranks(const Names& names) const {
    Launched found;
    found.by = names.by;
    std::tie(found.rank, found.world) = number(names.rank, names.world, names.by);
    std::tie(found.local_rank, found.local_world) =
        number(names.local_rank, names.local_world, names.by);
    check(found.local_world <= found.world && found.local_rank <= found.rank, ErrorCode::Usage,
          "process {} of {} on this machine cannot be rank {} of {} ({}, {}, {}, {})",
          found.local_rank, found.local_world, found.rank, found.world, names.rank, names.world,
          names.local_rank, names.local_world);
    return found;
  }

  // HOST:PORT of two variables.
  std::string address(const char* host, const char* port, std::string_view by) const {
    const std::string name = wanted(host, by), number = wanted(port, by);
    const auto value = parse_whole(number);
    check(value && *value >= 1 && *value <= 65535, ErrorCode::Usage,
          "{}: expected a port from 1 to 65535, got «{}»", port, number);
    return fmt::format("{}:{}", name, *value);
  }

 private:
  const Variables& variables_;
};

Launched by_ingot(const Reader& read) {
  Launched found = read.ranks(kIngot);
  found.rendezvous = read.wanted("INGOT_RENDEZVOUS", kIngot.by);
  return found;
}

Launched by_torch(const Reader& read) {
  Launched found = read.ranks(kTorch);
  found.rendezvous = read.address("MASTER_ADDR", "MASTER_PORT", kTorch.by);
  return found;
}

Launched by_open_mpi(const Reader& read) {
  Launched found = read.ranks(kOpenMpi);
  found.rendezvous = "mpi";
  return found;
}

bool has_any(const Reader& read, const Names& names) {
  return read.has(names.rank) || read.has(names.world) || read.has(names.local_rank) ||
         read.has(names.local_world);
}

// torchrun may itself be one process of mpirun.
void check_mpi_agrees(const Reader& read, const Launched& torch) {
  if (!has_any(read, kOpenMpi)) return;
  const Launched mpi = by_open_mpi(read);
  const bool agrees = mpi.world == 1 || (mpi.rank == torch.rank && mpi.world == torch.world);
  check(agrees, ErrorCode::Usage,
        "two launchers contradict each other: {} {} of {} {} (torchrun) and {} {} of {} {} "
        "(mpirun): unset the variables of the one that is not meant",
        kTorch.rank, torch.rank, kTorch.world, torch.world, kOpenMpi.rank, mpi.rank, kOpenMpi.world,
        mpi.world);
}

bool in_slurm_step(const Reader& read) {
  return std::ranges::any_of(kSlurmStep, [&](const char* name) { return read.has(name); });
}

// Steps of one job may run beside each other.
uint64_t slurm_port(const Reader& read) {
  const auto job = parse_whole(read.wanted("SLURM_JOB_ID", "srun"));
  const auto step = parse_whole(read.wanted("SLURM_STEP_ID", "srun"));
  check(job && step, ErrorCode::Usage,
        "SLURM_JOB_ID and SLURM_STEP_ID: expected numbers, got «{}» and «{}»",
        read.text("SLURM_JOB_ID"), read.text("SLURM_STEP_ID"));
  const auto mixed = static_cast<uint64_t>(*job) * 97 + static_cast<uint64_t>(*step);
  return kFirstPort + mixed % kNumPorts;
}

Launched by_slurm(const Reader& read) {
  Launched found;
  found.by = "srun";
  std::tie(found.rank, found.world) = read.number(kSlurmRank, kSlurmWorld, found.by);
  const auto node = parse_whole(read.wanted("SLURM_NODEID", found.by));
  check(node && *node >= 0 && *node < std::numeric_limits<int>::max(), ErrorCode::Usage,
        "SLURM_NODEID: expected the number of a node, got «{}»", read.text("SLURM_NODEID"));
  const char* counts = "SLURM_STEP_TASKS_PER_NODE";
  if (!read.has(counts)) counts = "SLURM_TASKS_PER_NODE";
  found.local_world = count_on_node(read.wanted(counts, found.by), static_cast<int>(*node));
  const std::string local = read.wanted("SLURM_LOCALID", found.by);
  found.local_rank = static_cast<int>(parse_process(local, std::to_string(found.local_world),
                                                    fmt::format("SLURM_LOCALID and {}", counts))
                                          .index);
  // A job script that says where torch's ranks meet means these too.
  if (read.has("MASTER_ADDR") && read.has("MASTER_PORT")) {
    found.rendezvous = read.address("MASTER_ADDR", "MASTER_PORT", found.by);
    return found;
  }
  const char* nodes = "SLURM_STEP_NODELIST";
  if (!read.has(nodes)) nodes = "SLURM_JOB_NODELIST";
  found.rendezvous =
      fmt::format("{}:{}", first_host(read.wanted(nodes, found.by)), slurm_port(read));
  return found;
}

std::optional<Launched> found_in(const Reader& read) {
  const bool in_step = in_slurm_step(read);
  if (has_any(read, kIngot) || read.has("INGOT_RENDEZVOUS")) return by_ingot(read);
  // Job scripts export WORLD_SIZE for others; a rank of torch's has RANK.
  if (read.has(kTorch.rank) || (has_any(read, kTorch) && !has_any(read, kOpenMpi) && !in_step)) {
    const Launched torch = by_torch(read);
    check_mpi_agrees(read, torch);
    return torch;
  }
  if (has_any(read, kOpenMpi)) return by_open_mpi(read);
  if (in_step) return by_slurm(read);
  const auto other = process_number([&](const char* name) { return read.get(name); });
  check(!other || other->count == 1, ErrorCode::Usage,
        "this is process {} of {} of an MPI that is not Open MPI (PMI_RANK, PMI_SIZE): use Open "
        "MPI's mpirun, srun or ingot launch",
        other->index, other->count);
  return std::nullopt;
}

}  // namespace

Variables environment() {
  return [](const char* name) -> const char* { return std::getenv(name); };
}

std::optional<Launched> launched(const Variables& variables) {
  const Reader read(variables);
  std::optional<Launched> found = found_in(read);
  if (!found || found->world == 1) return std::nullopt;
  found->secret = read.text("INGOT_SECRET");
  return found;
}

std::string passed_over(const Variables& variables) {
  const Reader read(variables);
  const bool by_launch = has_any(read, kIngot);
  if (by_launch || !read.has(kTorch.rank) || has_any(read, kOpenMpi) || !in_slurm_step(read))
    return "";
  return fmt::format("{} {} of {} {} is used, not {} {} of {} {}", kTorch.rank,
                     read.text(kTorch.rank), kTorch.world, read.text(kTorch.world), kSlurmRank,
                     read.text(kSlurmRank), kSlurmWorld, read.text(kSlurmWorld));
}

std::string torchrun_command(const Launched& launched, const std::string& command,
                             const Variables& variables) {
  const Reader read(variables);
  const int nodes = launched.world / launched.local_world;
  std::string text = "torchrun";
  if (nodes == 1) {
    text += " --standalone";
  } else {
    const std::string node = read.has("GROUP_RANK")
                                 ? read.text("GROUP_RANK")
                                 : fmt::format("{}", launched.rank / launched.local_world);
    text += fmt::format(" --nnodes={} --node-rank={} --master-addr={} --master-port={}", nodes,
                        node, read.text("MASTER_ADDR"), read.text("MASTER_PORT"));
  }
  return fmt::format("{} --nproc-per-node={} --no-python ingot {}", text, launched.local_world,
                     command);
}

std::optional<ProcessNumber> process_number(const Variables& variables) {
  constexpr std::array<std::array<const char*, 2>, 4> kNumbers = {{{kIngot.rank, kIngot.world},
                                                                   {kOpenMpi.rank, kOpenMpi.world},
                                                                   {"PMI_RANK", "PMI_SIZE"},
                                                                   {kSlurmRank, kSlurmWorld}}};
  for (const auto& [index_name, count_name] : kNumbers) {
    const char *index = variables(index_name), *count = variables(count_name);
    if (index != nullptr && count != nullptr)
      return parse_process(index, count, fmt::format("{} and {}", index_name, count_name));
  }
  return std::nullopt;
}

ProcessNumber parse_process(std::string_view index, std::string_view count,
                            std::string_view origin) {
  const auto k = parse_whole(index), n = parse_whole(count);
  check(k && n && *n >= 1 && *n <= (1 << 24) && *k >= 0 && *k < *n, ErrorCode::Usage,
        "{}: expected a process K of N with K from 0 to N-1, got «{}» of «{}»", origin, index,
        count);
  return {*k, *n};
}

}  // namespace ingot::cli
