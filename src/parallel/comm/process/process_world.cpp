#include "parallel/comm/process/process_world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "core/device/cuda_facts.h"
#include "core/error/foreign_error.h"
#include "core/error/log.h"
#include "core/text/hex.h"
#include "parallel/comm/mpi/mpi_start.h"
#include "parallel/comm/tcp/handshake.h"
#include "parallel/comm/tcp/tcp_host_plane.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace {

// How the ranks of a world meet.
using Meet = std::unique_ptr<HostPlane> (*)(const Process&, const Deadlines&, Watch&);

// Where there is no rendezvous but MPI's: rank 0 opens a port, and MPI tells the others where.
std::unique_ptr<HostPlane> plane_met_by_mpi(const Process& own, const Deadlines& deadlines,
                                            Watch& watch) {
  Process process = own;
  tcp::Socket listener;
  std::string text;
  if (process.rank == 0) {
    listener = tcp::listen_at("", 0);
    std::vector<std::string> hosts = tcp::machine_hosts();
    constexpr size_t kMost = 12;  // the text has a limit, and nobody has so many that matter
    if (hosts.size() > kMost) hosts.erase(hosts.begin() + kMost - 1, hosts.end() - 1);
    std::string secret;
    for (const char byte : tcp::random_nonce()) secret += fmt::format("{:02x}", uint8_t(byte));
    text = fmt::format("{} {}", tcp::Address{hosts, tcp::port_of(listener)}.str(), secret);
  }
  text = mpi_broadcast_text(text, process, deadlines.start);
  const size_t space = text.find(' ');
  process.rendezvous = text.substr(0, space);
  process.secret = text.substr(space + 1);
  return tcp::make_host_plane(process, deadlines, watch, std::move(listener));
}

bool has_nccl() {
  try {
    nccl_facts([](const char*) { return std::string(); });
    return true;
  } catch (const Error&) {
    return false;
  }
}

// What carries tensors of GPUs: NCCL where every rank has a GPU for itself. The same on all ranks.
CommBackend chosen(CommBackend wanted, HostPlane& plane) {
  if (wanted != CommBackend::Auto) return wanted;
  const Process& process = plane.process();
  const bool on_gpu = process.device.kind == DeviceKind::Cuda;
  // Processes that see one GPU each all call it cuda:0.
  const auto gpu = on_gpu ? gpu_identity(process.device.index) : std::nullopt;
  const std::string place =
      gpu ? gpu->uuid : fmt::format("{} of {}", process.device, machine_name(process));
  const auto places = plane.control().gather("devices", (on_gpu && has_nccl() ? "+" : "-") + place);
  const std::set<std::string> different(places.begin(), places.end());
  const bool all_have_nccl =
      std::ranges::all_of(places, [](const std::string& text) { return text[0] == '+'; });
  const bool nccl = all_have_nccl && different.size() == places.size();
  if (on_gpu && !nccl)
    log::warn("tensors_by_tcp", {{"why", all_have_nccl ? "ranks share a GPU, which NCCL refuses"
                                                       : "not every rank has a GPU and NCCL"}});
  return nccl ? CommBackend::Nccl : CommBackend::Tcp;
}

class ProcessWorld final : public World {
 public:
  ProcessWorld(const Process& process, const WorldOptions& options, Meet meet)
      : variable_(options.variable),
        plane_(meet(process, options.deadlines, watch_)),
        delay_{options.delay.seed + (static_cast<uint64_t>(process.rank) << 32),
               options.delay.most} {
    try {
      backend_ = chosen(options.backend, *plane_);
      wire_ = backend_ == CommBackend::Mpi ? mpi_wire(*plane_) : tcp_wire(*plane_);
    } catch (const std::exception& error) {
      plane_->go(translated(error).what());
      throw;
    }
  }

  HostPlane& plane() { return *plane_; }
  const Process& process() const override { return plane_->process(); }
  Control& control() override { return plane_->control(); }
  Board& board() override { return *plane_; }
  Watch& watch() override { return watch_; }
  const Deadlines& deadlines() const override { return plane_->deadlines(); }
  std::optional<LostRank> loss() override { return plane_->lost(); }
  Transport transport() const override {
    if (uses_nccl(process().device)) return {"nccl", nccl_facts(variable_)};
    return {backend_ == CommBackend::Mpi ? "mpi" : "tcp"};
  }

  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    check_group(ranks);
    if (ranks.size() == 1) return single_communicator(compute);
    const std::string group = fmt::format("{}", fmt::join(ranks, ","));
    const std::string name = fmt::format("{} #{}", group, made_[group]++);
    const auto member = static_cast<int>(std::ranges::find(ranks, rank()) - ranks.begin());
    if (uses_nccl(compute.device))
      return nccl_communicator(*plane_, name, {ranks.begin(), ranks.end()}, member, compute);
    delay_.seed += 1 << 16;
    return wire_communicator(*wire_, *plane_, name, {ranks.begin(), ranks.end()}, member, compute,
                             delay_);
  }

 private:
  bool uses_nccl(Device device) const {
    return device.kind == DeviceKind::Cuda && backend_ == CommBackend::Nccl;
  }

  const ReadVariable variable_;
  Watch watch_;
  std::unique_ptr<HostPlane> plane_;
  CommBackend backend_ = CommBackend::Tcp;
  LaneDelay delay_;
  std::unique_ptr<Wire> wire_;       // for host memory, and of GPUs where NCCL does not carry it
  std::map<std::string, int> made_;  // communicators of the same ranks
};

// Whether the error is another rank's, which this one heard of.
bool is_released(const Error& error, int rank) {
  if (error.code() == ErrorCode::Comm) return error.rank() >= 0;
  return is_refusal(error.code()) && error.rank() >= 0 && error.rank() != rank;
}

class OneOfProcesses final : public RankLauncher {
 public:
  OneOfProcesses(const Process& process, const WorldOptions& options, Meet meet)
      : process_(process), options_(options), meet_(meet) {}

 private:
  void start(const Body& body) override {
    const int rank = process_.rank;
    try {
      ProcessWorld world(process_, options_, meet_);
      run_in(world, body);
      world.plane().go("");
    } catch (Error& error) {
      if (!is_released(error, rank)) error.on_rank(rank);
      throw;
    } catch (const std::exception& error) {
      throw translated(error).on_rank(rank);
    }
  }

  static void run_in(ProcessWorld& world, const Body& body) {
    const int rank = world.rank();
    try {
      body(world);
    } catch (const Error& error) {
      world.plane().go(error.what(), is_released(error, rank) ? error.rank() : rank, error.code());
      throw;
    } catch (const std::exception& error) {
      const Error ours = translated(error);
      world.plane().go(ours.what(), rank, ours.code());
      throw;
    }
  }

  const Process process_;
  const WorldOptions options_;
  const Meet meet_;
};

}  // namespace

std::unique_ptr<RankLauncher> tcp_rank(const Process& process, const WorldOptions& options) {
  return std::make_unique<OneOfProcesses>(process, options, tcp_host_plane);
}

std::unique_ptr<RankLauncher> mpi_rank(const Process& process, const WorldOptions& options) {
  return std::make_unique<OneOfProcesses>(process, options, plane_met_by_mpi);
}

}  // namespace ingot
