#include "probe/comm/carrier.h"

#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "parallel/comm/nccl_facts.h"

namespace ingot {
namespace {

bool has_nccl() {
  try {
    nccl_facts([](const char*) { return std::string(); });
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string carrier_of(World& world, CommBackend asked) {
  const Process& process = world.process();
  if (process.rendezvous.empty()) return "threads";
  const bool may_be_nccl = process.device.kind == DeviceKind::Cuda && has_nccl();
  const auto places = world.control().gather(
      "probe: devices", may_be_nccl ? fmt::format("{} of {}", process.device, process.host) : "");
  const std::set<std::string> different(places.begin(), places.end());
  const bool each_has_a_gpu = !different.contains("") && different.size() == places.size();
  const bool on_gpu = process.device.kind == DeviceKind::Cuda;
  switch (asked) {
    case CommBackend::Mpi:
      return "mpi";
    case CommBackend::Nccl:
      return on_gpu ? "nccl" : "tcp";
    case CommBackend::Auto:
      return each_has_a_gpu ? "nccl" : "tcp";
    case CommBackend::Tcp:
      break;
  }
  return "tcp";
}

}  // namespace ingot
