// An HTTP server: one thread, which never waits for a single client.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "net/http_reply.h"
#include "net/http_request.h"

namespace ingot::net {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  HttpLimits limits = {};
  int max_connections = 512;  // more are told so, with status 503
  // From a request's first byte to its last; from its last to the end of the reply; of a connection
  // between two requests.
  std::chrono::milliseconds receive_time{30'000};
  std::chrono::milliseconds reply_time{600'000};
  std::chrono::milliseconds idle_time{60'000};
  // The body of a reply that the server gives by itself, with its type.
  std::function<std::string(const HttpProblem&)> problem_body = [](const HttpProblem& problem) {
    return problem.message + "\n";
  };
  std::string problem_type = "text/plain; charset=utf-8";
};

// Called on the server's thread; must not wait or throw. It may keep the reply and finish it later.
using HttpHandler = std::function<void(const HttpRequest&, const std::shared_ptr<HttpReply>&)>;

class HttpServer {
 public:
  // Listens at once. Throws ErrorCode::Config if it cannot.
  HttpServer(ServerOptions options, HttpHandler handler);
  ~HttpServer();

  int port() const;
  // Serves until drain() and then until the last reply has ended, or until stop().
  void run();
  // Takes no new connections and no further requests. From any thread, and from signal handlers; so
  // is stop(), which drops what is open.
  void drain();
  void stop();
  int num_connections() const;  // thread-safe

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot::net
