// Sockets between the members of a channel, made when the first bytes go between two of them: the
// higher rank connects to the lower, where a gate lets it in.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "core/error/error.h"
#include "core/error/log.h"
#include "parallel/comm/tcp/gate.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How often a wait looks whether it still makes sense, and whether a connection has come.
constexpr auto kLook = milliseconds(50);
constexpr auto kLookForConnections = milliseconds(2);
// What a lost rank sent before may be under way for so long.
constexpr auto kGrace = seconds(1);
// After a connection ended, for the host plane to say why.
constexpr auto kTimeToExplain = seconds(10);

// "HOST,HOST:PORT NONCE": who read it on the board of this run can connect.
struct Place {
  Address address;
  Key key;
};

Place parse_place(const std::string& text, const std::string& secret) {
  const size_t space = text.find(' ');
  return {parse_address(text.substr(0, space)),
          siphash(key_of(secret), std::string_view(text).substr(space + 1))};
}

std::string place_key(int rank) {
  return fmt::format("tcp wire of rank {}", rank);
}

// The sockets that other ranks connected, until their channels take them.
class Arrivals {
 public:
  void put(const std::string& channel, int rank, Socket socket) {
    const std::scoped_lock lock(mutex_);
    sockets_[{channel, rank}] = std::move(socket);
  }
  // An empty one when none has come.
  Socket take(const std::string& channel, int rank) {
    const std::scoped_lock lock(mutex_);
    const auto found = sockets_.find({channel, rank});
    if (found == sockets_.end()) return {};
    Socket socket = std::move(found->second);
    sockets_.erase(found);
    return socket;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, Socket> sockets_;
};

// One member's end of a connection, and what is to go through it in this exchange.
struct Peer {
  Socket socket;
  bool is_over = false;  // no bytes come from it any more
  std::vector<std::span<const std::byte>> out = {};
  std::vector<std::span<std::byte>> in = {};
  size_t next_out = 0, next_in = 0;

  bool sends() const { return next_out < out.size(); }
  bool receives() const { return next_in < in.size(); }
  bool is_needed() const { return sends() || receives(); }
};

class TcpChannel final : public Channel {
 public:
  TcpChannel(HostPlane& plane, Arrivals& arrivals, std::string name, std::vector<int> ranks)
      : plane_(plane),
        arrivals_(arrivals),
        name_(std::move(name)),
        ranks_(std::move(ranks)),
        own_(plane.process().rank),
        peers_(ranks_.size()) {}

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in,
                Timeout timeout) override {
    moved_ = Clock::now();
    deadline_ = in_time(timeout);
    timeout_ = timeout;
    try {
      for (const Outgoing& piece : out)
        if (!piece.bytes.empty()) peer(piece.member).out.push_back(piece.bytes);
      for (const Incoming& piece : in)
        if (!piece.bytes.empty()) peer(piece.member).in.push_back(piece.bytes);
      for (size_t member = 0; member < peers_.size(); ++member)
        if (peers_[member].is_needed() && !peers_[member].socket) connect(member);
      while (any_needed())
        if (!move_all()) wait();
    } catch (...) {
      withdrawn_ = true;  // nobody knows how much of it went
      throw;
    }
    for (Peer& peer : peers_) {
      peer.out.clear();
      peer.in.clear();
      peer.next_out = peer.next_in = 0;
    }
  }

  void withdraw() override { withdrawn_ = true; }

 private:
  Peer& peer(int member) {
    const auto at = static_cast<size_t>(member);
    check(at < peers_.size() && ranks_[at] != own_, ErrorCode::Internal,
          "channel {}: expected another member of {}, got {}", name_, ranks_.size(), member);
    return peers_[at];
  }

  Timeout left() const {
    return std::max(std::chrono::duration_cast<Timeout>(deadline_ - Clock::now()), Timeout(0));
  }

  // To a lower rank, whose gate lets this one in whatever that rank is at; a higher one comes.
  void connect(size_t member) {
    const int rank = ranks_[member];
    if (rank > own_) return;
    const Place place = parse_place(plane_.await(place_key(rank), left()), plane_.process().secret);
    const Message hello{
        .kind = Kind::Hello, .rank = own_, .number = plane_.process().world, .name = name_};
    peers_[member].socket = knock(place.address, place.key, hello, deadline_, [&] { look(); });
    moved_ = Clock::now();
  }

  bool any_needed() const { return std::ranges::any_of(peers_, &Peer::is_needed); }

  // Whatever can move, in both directions with all members, so that no full buffer holds up
  // another.
  bool move_all() {
    bool has_moved = false;
    for (size_t member = 0; member < peers_.size(); ++member) {
      Peer& peer = peers_[member];
      if (!peer.is_needed()) continue;
      if (!peer.socket) peer.socket = arrivals_.take(name_, ranks_[member]);
      if (!peer.socket) continue;
      while (peer.sends()) {
        auto& bytes = peer.out[peer.next_out];
        const int64_t sent = send_some(peer.socket, bytes);
        if (sent < 0) peer.is_over = peer.is_over || !peer.receives();
        if (sent <= 0) break;
        has_moved = true;
        bytes = bytes.subspan(static_cast<size_t>(sent));
        if (bytes.empty()) ++peer.next_out;
      }
      while (peer.receives() && !peer.is_over) {
        auto& bytes = peer.in[peer.next_in];
        const int64_t got = receive_some(peer.socket, bytes);
        if (got < 0) peer.is_over = true;
        if (got <= 0) break;
        has_moved = true;
        bytes = bytes.subspan(static_cast<size_t>(got));
        if (bytes.empty()) ++peer.next_in;
      }
    }
    if (has_moved) moved_ = Clock::now();
    return has_moved;
  }

  void wait() {
    look();
    std::vector<pollfd> wanted;
    auto longest = kLook;
    for (const Peer& peer : peers_) {
      if (!peer.is_needed() || peer.is_over) continue;
      if (!peer.socket) {
        longest = kLookForConnections;
        continue;
      }
      const int events = (peer.sends() ? POLLOUT : 0) | (peer.receives() ? POLLIN : 0);
      wanted.push_back({peer.socket.fd(), static_cast<short>(events), 0});
    }
    poll_until(wanted, Clock::now() + longest);
  }

  // Whether what this exchange waits for can still come; throws when not.
  void look() {
    check(!withdrawn_, ErrorCode::Comm, "abandoned by this rank");
    const Clock::time_point now = Clock::now();
    std::vector<int> needed;
    int ended = -1;
    for (size_t member = 0; member < peers_.size(); ++member) {
      const Peer& peer = peers_[member];
      if (!peer.is_needed()) continue;
      needed.push_back(ranks_[member]);
      if (peer.is_over) ended = ranks_[member];
    }
    // What a lost rank sent before it went still counts.
    const bool is_late = now >= deadline_;
    if (ended >= 0 || is_late || now - moved_ > kGrace) plane_.throw_if_lost(needed);
    if (ended >= 0 && now - moved_ > kTimeToExplain)
      throw Error(ErrorCode::Comm, fmt::format("rank {} closed its connection", ended))
          .on_rank(ended);
    if (is_late) plane_.throw_late(timeout_, needed);
  }

  HostPlane& plane_;
  Arrivals& arrivals_;
  const std::string name_;
  const std::vector<int> ranks_;  // by member
  const int own_;                 // rank
  std::vector<Peer> peers_;       // by member
  std::atomic<bool> withdrawn_ = false;
  Clock::time_point deadline_{}, moved_{};  // of the exchange
  Timeout timeout_{};
};

class TcpWire final : public Wire {
 public:
  explicit TcpWire(HostPlane& plane)
      : TcpWire(plane, listen_at(parse_address(plane.reachable_at() + ":0").hosts[0], 0),
                random_nonce()) {}

  std::string name() const override { return "tcp"; }
  std::unique_ptr<Channel> open(const std::string& name, const std::vector<int>& ranks) override {
    return std::make_unique<TcpChannel>(plane_, arrivals_, name, ranks);
  }

 private:
  TcpWire(HostPlane& plane, Socket listener, const std::string& nonce)
      : plane_(plane),
        place_(fmt::format("{}:{} {}", plane.reachable_at(), port_of(listener), nonce)),
        gate_(std::move(listener), parse_place(place_, plane.process().secret).key,
              /*most_waiting=*/static_cast<size_t>(plane.process().world) + 64,
              {.refuses = [this](const Message& hello) { return refusal_of(hello); },
               .let_in =
                   [this](const Message& hello, Socket socket) {
                     arrivals_.put(hello.name, hello.rank, std::move(socket));
                   },
               .turned_away = [](const Message&, const std::string&) {}}) {
    plane.post(place_key(plane.process().rank), place_);
  }

  std::string refusal_of(const Message& hello) const {
    const Process& process = plane_.process();
    const bool ok = hello.rank > process.rank && hello.rank < process.world;
    return ok ? "" : fmt::format("rank {} connects to no rank {}", hello.rank, process.rank);
  }

  HostPlane& plane_;
  const std::string place_;
  Arrivals arrivals_;
  Gate gate_;  // the first to go
};

}  // namespace
}  // namespace tcp

std::unique_ptr<Wire> tcp_wire(HostPlane& plane) {
  return std::make_unique<tcp::TcpWire>(plane);
}

}  // namespace ingot
