// An HTTP server on one thread, which never waits for a single client.
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
  int max_connections = 512;  // further ones get status 503
  // Limits: from a request's first byte to its last; from there to the end of the reply; between
  // two requests of a connection.
  std::chrono::milliseconds receive_time{30'000};
  std::chrono::milliseconds reply_time{600'000};
  std::chrono::milliseconds idle_time{60'000};
  // Body and type of a reply that the server itself gives.
  std::function<std::string(const HttpProblem&)> problem_body = [](const HttpProblem& problem) {
    return problem.message + "\n";
  };
  std::string problem_type = "text/plain; charset=utf-8";
};

// Called on the server's thread; must not wait or throw. It may keep the reply to finish it later.
using HttpHandler = std::function<void(const HttpRequest&, const std::shared_ptr<HttpReply>&)>;

class HttpServer {
 public:
  // Begins to listen. Throws ErrorCode::Config if it cannot.
  HttpServer(ServerOptions options, HttpHandler handler);
  ~HttpServer();

  int port() const;
  // Serves until stop(), or after drain() until the last reply has ended.
  void run();
  // drain() accepts no new connections and no further requests; stop() also drops open connections.
  // Both may be called from any thread and from signal handlers.
  void drain();
  void stop();
  int num_connections() const;  // thread-safe

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot::net
