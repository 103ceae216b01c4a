#include "net/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "core/error/error.h"
#include "support/http_client.h"

namespace ingot::net {
namespace {

using testing_support::Client;

// Runs while it lives.
class Running {
 public:
  explicit Running(HttpHandler handler, ServerOptions options = {})
      : server_(std::move(options), std::move(handler)), thread_([this] { server_.run(); }) {}
  ~Running() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  HttpServer& server() { return server_; }
  int port() const { return server_.port(); }
  void join() { thread_.join(); }

 private:
  HttpServer server_;
  std::thread thread_;
};

bool ends(const std::string& text, std::string_view end) {
  return text.ends_with(end);
}

HttpHandler echo() {
  return [](const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
    reply->send(200, "text/plain", request.method + " " + request.path + " " + request.body);
  };
}

TEST(HttpServer, AnswersSeveralRequestsOfAConnection) {
  Running running(echo());
  Client client(running.port());
  client.send("GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
  const std::string first = client.receive_until("GET /a ");
  EXPECT_TRUE(first.starts_with("HTTP/1.1 200 OK\r\n")) << first;
  client.receive_until("POST /b hi");
  client.send("HEAD /c HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(ends(client.receive_all(), "\r\n\r\n"));
}

TEST(HttpServer, AThousandRequestsAtOnceAreAnsweredInOrder) {
  Running running(echo());
  Client client(running.port());
  std::thread sender([&] {
    for (int i = 0; i < 1000; ++i) client.send("GET /" + std::to_string(i) + " HTTP/1.1\r\n\r\n");
  });
  for (int i = 0; i < 1000; ++i)
    EXPECT_FALSE(client.receive_until("GET /" + std::to_string(i) + " ").empty());
  sender.join();
}

TEST(HttpServer, TellsAClientToSendItsBody) {
  Running running(echo());
  Client client(running.port());
  client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  client.receive_until("POST / ok");
}

TEST(HttpServer, StreamsFromAnotherThread) {
  std::vector<std::thread> threads;
  Running running([&](const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
    reply->begin_stream(200, "text/event-stream");
    threads.emplace_back([reply, path = request.path] {
      for (int i = 0; i < 3; ++i) reply->write(path + std::to_string(i));
      reply->end();
    });
  });
  EXPECT_TRUE(ends(Client(running.port()).get("/x"),
                   "\r\n\r\n3\r\n/x0\r\n3\r\n/x1\r\n3\r\n/x2\r\n0\r\n\r\n"));
  Client old(running.port());
  old.send("GET /y HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ends(old.receive_all(), "\r\n\r\n/y0/y1/y2"));
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpServer, TellsThatTheClientHasGone) {
  std::promise<void> begun, gone;
  std::shared_ptr<HttpReply> kept;
  Running running([&](const HttpRequest&, const std::shared_ptr<HttpReply>& reply) {
    reply->on_closed([&] { gone.set_value(); });
    kept = reply;
    begun.set_value();
  });
  {
    Client client(running.port());
    client.send("GET / HTTP/1.1\r\n\r\n");
    begun.get_future().wait();
  }
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  bool told = false;
  kept->on_closed([&] { told = true; });
  EXPECT_TRUE(told);
  kept->send(200, "text/plain", "to nobody");
}

TEST(HttpServer, ASlowReaderHoldsUpItselfAlone) {
  std::promise<std::shared_ptr<HttpReply>> slow_reply;
  std::atomic<int> rooms = 0;
  Running running([&](const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
    if (request.path != "/slow") return reply->send(200, "text/plain", "quick");
    reply->begin_stream(200, "text/plain");
    reply->on_room([&] { ++rooms; });
    slow_reply.set_value(reply);
  });
  Client slow(running.port());
  slow.send("GET /slow HTTP/1.1\r\n\r\n");
  const auto reply = slow_reply.get_future().get();
  const std::string piece(1 << 16, 'x');
  size_t written = 0;
  // Until the system takes no more, which another client's answer shows.
  do {
    while (reply->waiting_bytes() <= HttpReply::kEnough && written < size_t{1} << 26) {
      reply->write(piece);
      written += piece.size();
    }
    EXPECT_TRUE(ends(Client(running.port()).get("/"), "quick"));
  } while (reply->waiting_bytes() <= HttpReply::kEnough && written < size_t{1} << 26);
  EXPECT_GT(reply->waiting_bytes(), HttpReply::kEnough);
  const int before = rooms;
  reply->end();
  const std::string all = slow.receive_until("\r\n0\r\n\r\n");
  EXPECT_GT(all.size(), written);
  EXPECT_GT(rooms, before);
}

TEST(HttpServer, RefusesWhatItCannotReadAndGoesOn) {
  ServerOptions options;
  options.limits.body_bytes = 100;
  Running running(echo(), options);
  const auto status = [&](std::string_view bytes) {
    Client client(running.port());
    client.send(bytes);
    return client.receive_all().substr(9, 3);
  };
  EXPECT_EQ(status("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nA: " + std::string(100'000, 'a') + "\r\n\r\n"), "431");
  // The reply is read although the client is still sending.
  EXPECT_EQ(
      status("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + std::string(1'000'000, 'a')),
      "413");
  EXPECT_TRUE(ends(Client(running.port()).get("/on"), "GET /on "));
}

TEST(HttpServer, EndsRequestsThatTrickleAndConnectionsThatIdle) {
  ServerOptions options;
  options.receive_time = std::chrono::milliseconds(300);
  options.idle_time = std::chrono::milliseconds(300);
  options.reply_time = std::chrono::milliseconds(300);
  std::vector<std::shared_ptr<HttpReply>> kept;
  Running running(
      [&](const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
        if (request.path == "/begun") reply->begin_stream(200, "text/plain");
        kept.push_back(reply);
      },
      options);
  Client trickle(running.port());
  std::atomic<bool> answered = false;
  std::thread sender([&] {
    for (const char* piece = "GET / HTTP/1.1\r\nA: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
         *piece != 0 && !answered; ++piece) {
      trickle.send({piece, 1});
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(trickle.receive_all().substr(9, 3), "408");
  answered = true;
  sender.join();
  EXPECT_EQ(Client(running.port()).receive_all(), "");
  EXPECT_EQ(Client(running.port()).get("/never").substr(9, 3), "504");
  EXPECT_EQ(Client(running.port()).get("/begun").substr(9, 3), "200");  // and then its end
}

TEST(HttpServer, TellsThatThereAreTooManyConnections) {
  ServerOptions options;
  options.max_connections = 2;
  Running running(echo(), options);
  Client a(running.port()), b(running.port());
  for (Client* client : {&a, &b}) {
    client->send("GET / HTTP/1.1\r\n\r\n");
    client->receive_until("GET / ");
  }
  EXPECT_EQ(Client(running.port()).receive_all().substr(9, 3), "503");
  a.send("GET /still HTTP/1.1\r\n\r\n");
  EXPECT_NE(a.receive_until("GET /still "), "");
}

TEST(HttpServer, DrainsEndsRepliesAndTakesNoMore) {
  std::promise<std::shared_ptr<HttpReply>> begun;
  Running running(
      [&](const HttpRequest&, const std::shared_ptr<HttpReply>& reply) { begun.set_value(reply); });
  Client idle(running.port()), busy(running.port());
  busy.send("GET / HTTP/1.1\r\n\r\n");
  const auto reply = begun.get_future().get();
  running.server().drain();
  EXPECT_EQ(idle.receive_all(), "");
  reply->send(200, "text/plain", "the end");
  EXPECT_TRUE(ends(busy.receive_all(), "the end"));
  running.join();
}

TEST(HttpServer, SaysThatAPortIsInUse) {
  Running running(echo());
  ServerOptions options;
  options.port = running.port();
  try {
    HttpServer second(options, echo());
    ADD_FAILURE() << "two servers at one port";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is in use: give another --port"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace ingot::net
