// The paths of the API, and the page for people.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "infer/model.h"
#include "net/access.h"
#include "net/http_server.h"
#include "serve/metrics.h"
#include "tokenizer/chat/chat_format.h"

namespace ingot::serve {

struct ServiceOptions {
  std::string model_name;
  net::AccessRules access = {};
  int64_t max_queue = 256;  // if more choices wait: status 429
};

class Service {
 public:
  // `model` must outlive it.
  Service(LoadedModel& model, ServiceOptions options);
  ~Service();

  // Answers a request, at once or later from the thread of run(). Never throws.
  void handle(const net::HttpRequest& request, const std::shared_ptr<net::HttpReply>& reply);
  // Steps the engine until stop().
  void run();
  void stop();                           // thread-safe
  void drain() { is_draining_ = true; }  // /health then says «draining»
  const ChatFormat& format() const { return format_; }
  // The server whose connections /metrics counts.
  void count_connections_of(const net::HttpServer& server) { server_ = &server; }

 private:
  void answer(const net::HttpRequest& request, const std::shared_ptr<net::HttpReply>& reply);
  void complete(const net::HttpRequest& request, const std::shared_ptr<net::HttpReply>& reply,
                bool is_chat);
  void send_page(const std::shared_ptr<net::HttpReply>& reply) const;

  LoadedModel& model_;
  ReplyEngine& engine_;  // made before a second thread asks for it
  ServiceOptions options_;
  ChatFormat format_;
  Metrics metrics_;
  const net::HttpServer* server_ = nullptr;
  std::atomic<bool> is_stopping_ = false, is_draining_ = false;
};

}  // namespace ingot::serve
