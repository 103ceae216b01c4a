#include "net/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "core/error/error.h"
#include "net/connection.h"
#include "net/listener.h"

namespace ingot::net {
namespace {

// Keys of epoll; those of connections follow.
constexpr uint64_t kListener = 0, kWaker = 1, kFirstConnection = 2;
constexpr int kTickMs = 100;  // deadlines are kept to this
// Beyond the limit a few more are accepted, to be told that there are too many.
constexpr int kTold = 32;

// What replies tell the server from other threads. They may outlive it.
struct Mailbox {
  std::mutex mutex;
  std::set<uint64_t> connections;  // that have something to write
  Descriptor event{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

  void wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event.fd(), &one, sizeof(one));
  }
  void tell(uint64_t key) {
    {
      const std::scoped_lock lock(mutex);
      if (!connections.insert(key).second) return;
    }
    wake();
  }
  std::set<uint64_t> take() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(event.fd(), &count, sizeof(count));
    const std::scoped_lock lock(mutex);
    return std::exchange(connections, {});
  }
};

}  // namespace

struct HttpServer::Impl {
  Impl(ServerOptions given, HttpHandler given_handler)
      : options(std::move(given)),
        handler(std::move(given_handler)),
        listener(listen_at(options.host, options.port)),
        port(port_of(listener)),
        poll(epoll_create1(EPOLL_CLOEXEC)) {
    watch(listener.fd(), kListener, EPOLLIN, EPOLL_CTL_ADD);
    watch(mailbox->event.fd(), kWaker, EPOLLIN, EPOLL_CTL_ADD);
  }

  void watch(int fd, uint64_t key, uint32_t events, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    check(epoll_ctl(poll.fd(), operation, fd, &event) == 0, ErrorCode::Internal, "epoll_ctl: {}",
          errno);
  }

  void run() {
    bool drained = false;
    while (!stopping) {
      if (draining && !std::exchange(drained, true)) begin_drain();
      if (drained && connections.empty()) break;
      epoll_event events[64];
      const int count = epoll_wait(poll.fd(), events, std::size(events), kTickMs);
      for (int i = 0; i < count; ++i) {
        const uint64_t key = events[i].data.u64;
        if (key == kListener)
          accept_all();
        else if (key == kWaker)
          for (const uint64_t told : mailbox->take()) advance(told, 0);
        else
          advance(key, events[i].events);
      }
      check_times();
    }
    connections.clear();
    num_connections = 0;
  }

  void begin_drain() {
    listener = Descriptor();
    for (auto at = connections.begin(); at != connections.end();) {
      at->second->drain();
      const auto next = std::next(at);
      if (at->second->is_over()) drop(at->first);
      at = next;
    }
  }

  void accept_all() {
    for (int i = 0; i < 64; ++i) {
      Descriptor socket(accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) return;
      const auto open = static_cast<int>(connections.size());
      if (open >= options.max_connections + kTold) continue;  // closed unread
      const int yes = 1;
      setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
      const uint64_t key = next_key++;
      const int fd = socket.fd();
      auto connection = std::make_unique<Connection>(std::move(socket), options, handler,
                                                     [box = mailbox, key] { box->tell(key); });
      watch(fd, key, EPOLLIN | EPOLLRDHUP, EPOLL_CTL_ADD);
      Connection& added = *connection;
      connections.emplace(key, std::move(connection));
      num_connections = static_cast<int>(connections.size());
      if (open >= options.max_connections) {
        added.refuse({503, "too many connections are open: try again later"});
        advance(key, 0);
      }
    }
  }

  void advance(uint64_t key, uint32_t events) {
    const auto found = connections.find(key);
    if (found == connections.end()) return;
    Connection& connection = *found->second;
    const bool hung_up = (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    connection.advance((events & EPOLLIN) != 0 || hung_up, hung_up);
    if (connection.is_over()) return drop(key);
    watch(connection.fd(), key,
          (connection.wants_to_read() ? EPOLLIN : 0U) |
              (connection.wants_to_write() ? EPOLLOUT : 0U) | EPOLLRDHUP,
          EPOLL_CTL_MOD);
  }

  void drop(uint64_t key) {
    connections.erase(key);  // closes the socket, and epoll forgets it
    num_connections = static_cast<int>(connections.size());
  }

  void check_times() {
    const Clock::time_point now = Clock::now();
    if (now < next_check) return;
    next_check = now + std::chrono::milliseconds(kTickMs);
    std::vector<uint64_t> changed;
    for (const auto& [key, connection] : connections)
      if (connection->check_time(now)) changed.push_back(key);
    for (const uint64_t key : changed) advance(key, 0);
  }

  ServerOptions options;
  HttpHandler handler;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  Descriptor listener;
  int port;
  Descriptor poll;
  std::map<uint64_t, std::unique_ptr<Connection>> connections;
  uint64_t next_key = kFirstConnection;
  Clock::time_point next_check = Clock::now();
  std::atomic<bool> draining = false, stopping = false;
  std::atomic<int> num_connections = 0;
};

HttpServer::HttpServer(ServerOptions options, HttpHandler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->port;
}

void HttpServer::run() {
  impl_->run();
}

void HttpServer::drain() {
  impl_->draining = true;
  impl_->mailbox->wake();
}

void HttpServer::stop() {
  impl_->stopping = true;
  impl_->mailbox->wake();
}

int HttpServer::num_connections() const {
  return impl_->num_connections;
}

}  // namespace ingot::net
