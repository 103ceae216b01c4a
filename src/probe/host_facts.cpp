#include "probe/host_facts.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "core/device/cuda_facts.h"
#include "core/device/thread_pool.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The number that a line begins with; 0 where it does not.
double number_in(const std::string& line) {
  return std::max(0.0, std::strtod(line.c_str(), nullptr));
}

int64_t memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kib = 0;
  while (file >> word && word != "MemTotal:") file.ignore(1 << 10, '\n');
  file >> kib;
  return kib * 1024;
}

bool loads(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  return text;
}

// The interfaces that this process reaches, as `known` describes them: /sys may be that of another
// network than the process's own.
std::vector<NetworkInterface> reachable(const std::vector<NetworkInterface>& known) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return known;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(all, freeifaddrs);
  std::vector<NetworkInterface> interfaces;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    auto found = std::ranges::find(interfaces, entry->ifa_name, &NetworkInterface::name);
    if (found == interfaces.end()) {
      const auto described = std::ranges::find(known, entry->ifa_name, &NetworkInterface::name);
      interfaces.push_back(described == known.end() ? NetworkInterface{} : *described);
      found = std::prev(interfaces.end());
      found->name = entry->ifa_name;
      found->up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
      found->loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    }
    if (entry->ifa_addr == nullptr) continue;
    if (std::string address = text_of(entry->ifa_addr); !address.empty())
      found->addresses.push_back(std::move(address));
  }
  return interfaces;
}

}  // namespace

bool HostFacts::has_active_infiniband() const {
  return std::ranges::any_of(infiniband, &InfinibandPort::active);
}

const NetworkInterface* HostFacts::with_address(const std::string& address) const {
  for (const NetworkInterface& interface : interfaces)
    if (std::ranges::find(interface.addresses, address) != interface.addresses.end())
      return &interface;
  return nullptr;
}

std::vector<NetworkInterface> interfaces_in(const std::string& sys) {
  std::vector<NetworkInterface> interfaces;
  for (const fs::path& folder : entries_of(fs::path(sys) / "class/net")) {
    NetworkInterface one;
    one.name = folder.filename();
    // Bridges and tunnels are up without saying so.
    const std::string state = first_line(folder / "operstate");
    one.up = state == "up" || (state == "unknown" && first_line(folder / "carrier") == "1");
    one.loopback = first_line(folder / "type") == "772";  // ARPHRD_LOOPBACK
    one.hardware = fs::exists(folder / "device");
    one.bytes_s = number_in(first_line(folder / "speed")) * 1e6 / 8;  // Mbit/s; -1: not known
    interfaces.push_back(std::move(one));
  }
  return interfaces;
}

std::vector<InfinibandPort> infiniband_in(const std::string& sys) {
  std::vector<InfinibandPort> ports;
  for (const fs::path& device : entries_of(fs::path(sys) / "class/infiniband"))
    for (const fs::path& folder : entries_of(device / "ports")) {
      InfinibandPort port;
      port.name = device.filename().string() + "/" + folder.filename().string();
      port.active = first_line(folder / "state").find("ACTIVE") != std::string::npos;
      port.bytes_s = number_in(first_line(folder / "rate")) * 1e9 / 8;  // "400 Gb/sec (4X NDR)"
      ports.push_back(std::move(port));
    }
  return ports;
}

HostFacts host_facts() {
  HostFacts facts;
  utsname system{};
  if (uname(&system) == 0) {
    facts.name = system.nodename;
    facts.kernel = std::string(system.sysname) + " " + system.release;
  }
  facts.cores = available_cores();
  facts.memory_bytes = memory_bytes();
  facts.numa_nodes = std::max<int64_t>(
      1, std::ranges::count_if(entries_of("/sys/devices/system/node"), [](const fs::path& path) {
        const std::string name = path.filename();
        return name.starts_with("node") && name.size() > 4 && std::isdigit(name[4]);
      }));
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0)
    facts.shm_free_bytes = static_cast<int64_t>(shm.f_bavail * shm.f_frsize);
  facts.interfaces = reachable(interfaces_in("/sys"));
  facts.infiniband = infiniband_in("/sys");
  if (const auto cuda = cuda_facts())
    for (const DeviceFacts& device : cuda->devices) facts.gpus.push_back(device.name);
  facts.has_nccl = loads("libnccl.so.2");
  facts.has_nccl_net_plugin = loads("libnccl-net.so");
  facts.has_mpi = loads("libmpi.so.40") || loads("libmpi.so.12");
  return facts;
}

Route route_to(const std::string& host) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  Route route;
  route.to = text_of(found->ai_addr);
  // Connecting a datagram socket sends nothing; it makes the system choose its own address.
  const int socket_fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return route;
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (connect(socket_fd, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&own), &size) == 0)
    route.from = text_of(reinterpret_cast<const sockaddr*>(&own));
  close(socket_fd);
  return route;
}

bool is_loopback_address(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace ingot
