// A cable between two hosts on which everything takes its time.
#pragma once

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/namespaces.h"

namespace ingot::test {

// Hosts 0 and 1 get a card tun0 each, which this process carries packets between, every one
// `delay` after it came.
class DelayingCable {
 public:
  DelayingCable(Network& network, std::chrono::milliseconds delay) : delay_(delay) {
    for (const int host : {0, 1}) {
      ends_[static_cast<size_t>(host)].fd = insert_card(network.host(host).number());
      network.run(host, "ip addr add " + address(host) + "/24 dev tun0 && ip link set tun0 up");
    }
    relay_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ~DelayingCable() {
    relay_.request_stop();
    relay_.join();
    for (const End& end : ends_) close(end.fd);
  }
  DelayingCable(const DelayingCable&) = delete;
  DelayingCable& operator=(const DelayingCable&) = delete;

  static std::string address(int host) { return "10.88.0." + std::to_string(host + 1); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Packet {
    Clock::time_point due;
    std::vector<char> bytes;
  };
  struct End {
    int fd = -1;
    std::deque<Packet> arriving;
  };

  // In the network of a process; a thread may be in another one than its process.
  static int insert_card(pid_t process) {
    int card = -1;
    std::jthread([&] {
      const std::string path = "/proc/" + std::to_string(process) + "/ns/net";
      const int network = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (network < 0 || setns(network, CLONE_NEWNET) != 0) return;
      close(network);
      const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
      ifreq request{};
      request.ifr_flags = IFF_TUN | IFF_NO_PI;
      std::strncpy(request.ifr_name, "tun0", IFNAMSIZ - 1);
      if (fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0) card = fd;
    }).join();
    if (card < 0) throw std::runtime_error("no card tun0: " + std::string(std::strerror(errno)));
    return card;
  }

  void run(const std::stop_token& stop) {
    std::array<char, 65536> buffer;
    while (!stop.stop_requested()) {
      pollfd wanted[] = {{ends_[0].fd, POLLIN, 0}, {ends_[1].fd, POLLIN, 0}};
      poll(wanted, 2, 1);
      for (const size_t from : {size_t{0}, size_t{1}}) {
        End& to = ends_[1 - from];
        for (ssize_t n; (n = read(ends_[from].fd, buffer.data(), buffer.size())) > 0;)
          to.arriving.push_back({Clock::now() + delay_, {buffer.data(), buffer.data() + n}});
        while (!to.arriving.empty() && to.arriving.front().due <= Clock::now()) {
          const std::vector<char>& bytes = to.arriving.front().bytes;
          // What a full card drops TCP sends again.
          [[maybe_unused]] const ssize_t written = write(to.fd, bytes.data(), bytes.size());
          to.arriving.pop_front();
        }
      }
    }
  }

  const std::chrono::milliseconds delay_;
  std::array<End, 2> ends_;
  std::jthread relay_;
};

}  // namespace ingot::test
