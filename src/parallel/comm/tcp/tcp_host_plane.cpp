#include "parallel/comm/tcp/tcp_host_plane.h"

#include <fmt/ranges.h>

#include "core/error/error.h"
#include "parallel/comm/tcp/hub.h"
#include "parallel/comm/tcp/hub_client.h"

namespace ingot {
namespace tcp {
namespace {

class TcpControl final : public Control {
 public:
  TcpControl(HubClient& client, const Process& process, Timeout usual)
      : Control(usual), client_(client), process_(process) {}
  int rank() const override { return process_.rank; }
  int size() const override { return process_.world; }
  std::vector<std::string> gather(std::string_view what, std::string_view own,
                                  Timeout timeout) override {
    return client_.join_round(what, own, length_of(timeout));
  }

 private:
  HubClient& client_;
  const Process& process_;
};

class TcpHostPlane final : public HostPlane {
 public:
  TcpHostPlane(const Process& process, const Deadlines& deadlines, Watch& watch, Socket listener)
      : deadline_(in_time(deadlines.start)),
        process_(process),
        deadlines_(deadlines),
        watch_(watch),
        client_(connect(std::move(listener)), process_, deadlines_, watch_),
        control_(client_, process_, deadlines_.collective) {
    const auto left = std::chrono::duration_cast<Timeout>(deadline_ - Clock::now());
    control_.barrier("start", std::max(left, Timeout(1)));
  }

  const Process& process() const override { return process_; }
  const Deadlines& deadlines() const override { return deadlines_; }
  Watch& watch() override { return watch_; }
  Control& control() override { return control_; }
  std::string reachable_at() const override { return hosts_; }
  void post(const std::string& key, const std::string& value) override { client_.post(key, value); }
  std::string await(const std::string& key, Timeout timeout) override {
    return client_.await(key, timeout);
  }
  int64_t number_of(const std::string& name) override { return client_.number_of(name); }
  std::optional<LostRank> lost(std::span<const int> needed) override {
    return client_.lost(needed);
  }
  std::vector<RankState> states() override { return client_.states(); }
  void declare_lost(const LostRank& late) override { client_.declare_lost(late); }
  void go(const std::string& why, int culprit, ErrorCode code) override {
    client_.go(why, culprit, code);
  }

 private:
  Socket connect(Socket listener) {
    const Address address = parse_address(process_.rendezvous);
    const Key key = key_of(process_.secret);
    hosts_ = fmt::format("{}", fmt::join(address.hosts, ","));
    if (process_.rank == 0) {
      auto [own, other] = socket_pair();
      hub_ = std::make_unique<Hub>(std::move(listener), std::move(other), machine_name(process_),
                                   process_.world, deadlines_, key);
      return std::move(own);
    }
    const Message hello{.kind = Kind::Hello,
                        .rank = process_.rank,
                        .number = process_.world,
                        .name = machine_name(process_)};
    Socket socket = knock(address, key, hello, deadline_, [] {});
    // Who reached rank 0 by a loopback address is on its machine, and reached as that is.
    if (const std::string own = own_host(socket); !is_loopback(own)) hosts_ = own;
    return socket;
  }

  const Clock::time_point deadline_;  // of the start
  const Process process_;
  const Deadlines deadlines_;
  Watch& watch_;
  std::string hosts_;
  std::unique_ptr<Hub> hub_;  // on rank 0; the last to go
  HubClient client_;
  TcpControl control_;
};

}  // namespace

std::unique_ptr<HostPlane> make_host_plane(const Process& process, const Deadlines& deadlines,
                                           Watch& watch, Socket listener) {
  return std::make_unique<TcpHostPlane>(process, deadlines, watch, std::move(listener));
}

}  // namespace tcp

std::unique_ptr<HostPlane> tcp_host_plane(const Process& process, const Deadlines& deadlines,
                                          Watch& watch) {
  tcp::Socket listener;
  if (process.rank == 0) {
    const tcp::Address address = tcp::parse_address(process.rendezvous);
    listener = tcp::listen_at(address.hosts[0], address.port);
  }
  return tcp::make_host_plane(process, deadlines, watch, std::move(listener));
}

}  // namespace ingot
