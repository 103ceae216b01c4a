// ingot serve CKPT
#include <fmt/format.h>
#include <malloc.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "infer/model.h"
#include "net/http_server.h"
#include "net/listener.h"
#include "serve/api_error.h"
#include "serve/service.h"

namespace ingot::cli {
namespace {

// SIGTERM and SIGINT end what is being answered and take nothing new; a second one ends at once.
class ServeSignals {
 public:
  explicit ServeSignals(net::HttpServer& server) {
    serving_ = &server;
    for (const int number : {SIGTERM, SIGINT}) std::signal(number, on_signal);
  }
  ~ServeSignals() {
    for (const int number : {SIGTERM, SIGINT}) std::signal(number, SIG_DFL);
    serving_ = nullptr;
  }
  ServeSignals(const ServeSignals&) = delete;
  ServeSignals& operator=(const ServeSignals&) = delete;

 private:
  static void on_signal(int number) {
    std::signal(number, SIG_DFL);
    if (net::HttpServer* const server = serving_) server->drain();
  }
  static inline std::atomic<net::HttpServer*> serving_ = nullptr;
};

// Memory of finished requests goes back to the system. With glibc's own settings, a heap for each
// thread and thresholds that grow, the process grew by 1 to 6 % between requests 2,000 and 10,000.
void keep_heap_small() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 16 << 10);
  mallopt(M_MMAP_THRESHOLD, 16 << 10);
}

std::string trimmed_line(std::string text) {
  const size_t end = text.find_last_not_of(" \r\n\t");
  return text.substr(0, end == std::string::npos ? 0 : end + 1);
}

struct ServeCommand {
  ModelArgument chosen;
  std::string host = "127.0.0.1", key_file, name;
  int64_t port = 8080, parallel = 8, queue = 256, connections = 512, request_seconds = 600;
  int64_t max_body_mib = 8;
  WeightOptions weights;

  void run() const {
    keep_heap_small();
    net::AccessRules access;
    access.loopback_only = net::is_loopback(host);
    access.key = key();
    check(access.loopback_only || !access.key.empty(), ErrorCode::Usage,
          "--host {}: other machines could ask: give a key that they must know, in --key-file FILE "
          "or in INGOT_API_KEY",
          host);
    const OpenedModel opened = chosen.open(weights.options(parallel));
    opened.model->make_resident();
    serve::Service service(*opened.model, {served_name(), access, queue});
    net::HttpServer server(server_options(), [&](const auto& request, const auto& reply) {
      service.handle(request, reply);
    });
    service.count_connections_of(server);
    const ServeSignals signals(server);
    std::exception_ptr failure;
    std::thread steps([&] {
      try {
        service.run();
      } catch (...) {
        failure = std::current_exception();
        server.stop();
      }
    });
    if (service.format().is_base_model())
      fmt::print(stderr,
                 "base model: it came without a chat template, so conversations are written "
                 "as ChatML, which it may not know\n");
    fmt::print("serving {} at http://{}:{}\n", served_name(),
               host.find(':') == std::string::npos ? host : "[" + host + "]", server.port());
    std::fflush(stdout);
    server.run();
    service.stop();
    steps.join();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  std::string key() const {
    if (!key_file.empty()) {
      std::string key = trimmed_line(read_text(*posix_storage(), key_file));
      check(!key.empty(), ErrorCode::Usage, "--key-file {}: expected a key, got an empty file",
            key_file);
      return key;
    }
    const char* const variable = std::getenv("INGOT_API_KEY");
    return variable == nullptr ? "" : variable;
  }

  // The last part of the path, unless given.
  std::string served_name() const {
    if (!name.empty()) return name;
    std::string path = chosen.path;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return file_name(path);
  }

  net::ServerOptions server_options() const {
    net::ServerOptions options;
    options.host = host;
    options.port = static_cast<int>(port);
    options.max_connections = static_cast<int>(connections);
    options.limits.body_bytes = static_cast<size_t>(max_body_mib) << 20;
    options.reply_time = std::chrono::seconds(request_seconds);
    options.problem_type = "application/json";
    options.problem_body = [](const net::HttpProblem& problem) {
      return serve::ApiError(problem.status, problem.message).json();
    };
    return options;
  }
};

}  // namespace

void add_serve(Command& app) {
  auto command = std::make_shared<ServeCommand>();
  auto* serve =
      app.add_subcommand("serve", "serve a model through OpenAI's API and a page for browsers");
  command->chosen.add_path_to(*serve);
  serve->add_option("--port", command->port, "TCP port; 0 = any free one, which is printed")
      ->capture_default_str()
      ->between(0, 65535);
  serve
      ->add_option("--host", command->host,
                   "address to listen at; any other than a loopback address needs a key")
      ->capture_default_str();
  serve->add_option("--key-file", command->key_file,
                    "file with the key that clients must send («Authorization: Bearer KEY»); else "
                    "INGOT_API_KEY, else none");
  serve->add_option("--name", command->name, "name of the model; default: that of its folder");
  serve->add_option("--parallel", command->parallel, "most replies written at once; others wait")
      ->capture_default_str()
      ->between(1, 4096);
  serve->add_option("--queue", command->queue, "replies that may wait; further ones get status 429")
      ->capture_default_str()
      ->not_negative();
  serve->add_option("--connections", command->connections, "most open connections")
      ->capture_default_str()
      ->between(1, 65536);
  serve->add_option("--max-body", command->max_body_mib, "largest body of a request, in MiB")
      ->capture_default_str()
      ->between(1, 1024);
  serve
      ->add_option("--request-time", command->request_seconds,
                   "seconds that a reply may take, waiting included")
      ->capture_default_str()
      ->positive();
  command->weights.add_to(*serve);
  command->chosen.device.add_to(*serve);
  serve->callback([command] { command->run(); });
}

}  // namespace ingot::cli
