#include "serve/service.h"

#include <fmt/format.h>
#include <malloc.h>

#include <random>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "serve/answer.h"
#include "serve/page.h"

namespace ingot::serve {
namespace {

constexpr std::string_view kJson = "application/json";
using Reply = std::shared_ptr<net::HttpReply>;

void send_json(const Reply& reply, const Json& json) {
  reply->send(200, kJson, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

struct Path {
  std::string_view method, path;
  bool needs_key;
};
constexpr Path kPaths[] = {{"GET", "/", false},
                           {"GET", "/health", false},
                           {"GET", "/metrics", true},
                           {"GET", "/v1/models", true},
                           {"POST", "/v1/chat/completions", true},
                           {"POST", "/v1/completions", true},
                           {"POST", "/tokenize", true},
                           {"POST", "/detokenize", true}};

const Path& path_of(const net::HttpRequest& request) {
  const Path* found = nullptr;
  for (const Path& path : kPaths)
    if (path.path == request.path) found = &path;
  if (found == nullptr)
    throw ApiError(404, fmt::format("{}: this server has no such path", request.path), "",
                   "not_found");
  const bool is_head = request.method == "HEAD" && found->method == "GET";
  if (request.method != found->method && !is_head)
    throw ApiError(
        405, fmt::format("{}: expected {}, got {}", found->path, found->method, request.method));
  return *found;
}

Json tokenize(const Json& body, const LoadedModel& model) {
  CallFields fields(body);
  const auto content = fields.text("content");
  if (!content) throw ApiError(400, "content: expected a string", "content", "invalid_value");
  const bool add_special = fields.flag("add_special").value_or(false);
  const bool parse_special = fields.flag("parse_special").value_or(false);
  fields.refuse_others();
  std::vector<int32_t> ids;
  if (add_special && model.first_id() >= 0) ids.push_back(model.first_id());
  if (parse_special)
    model.tokenizer().encode_with_specials(*content, ids);
  else
    model.tokenizer().encode(*content, ids);
  return {{"tokens", ids}};
}

Json detokenize(const Json& body, const LoadedModel& model) {
  CallFields fields(body);
  const Json* tokens = fields.find("tokens");
  fields.refuse_others();
  const int64_t vocab = model.tokenizer().vocab_size();
  const auto refuse = [&] {
    throw ApiError(400, fmt::format("tokens: expected a list of ids from 0 to {}", vocab - 1),
                   "tokens", "invalid_value");
  };
  std::vector<int32_t> ids;
  if (tokens == nullptr || !tokens->is_array()) refuse();
  for (const Json& id : *tokens) {
    if (!id.is_number_integer() || id < 0 || id >= vocab) refuse();
    ids.push_back(id.get<int32_t>());
  }
  return {{"content", valid_utf8(model.tokenizer().decode(ids))}};
}

}  // namespace

Service::Service(LoadedModel& model, ServiceOptions options)
    : model_(model),
      engine_(model.engine()),
      options_(std::move(options)),
      format_(model.chat_files(), model.tokenizer(), model.first_id(), model.stop_ids(),
              options_.model_name) {}

Service::~Service() = default;

void Service::handle(const net::HttpRequest& request, const Reply& reply) {
  const auto refuse = [&](const ApiError& error) {
    metrics_.answered(error.status());
    reply->send(error.status(), kJson, error.json());
  };
  try {
    answer(request, reply);
  } catch (const ApiError& error) {
    refuse(error);
  } catch (const Error& error) {
    refuse(ApiError(error.code() == ErrorCode::Usage ? 400 : 500, error.what()));
  } catch (const std::exception& error) {
    refuse(ApiError(500, error.what()));
  }
}

void Service::answer(const net::HttpRequest& request, const Reply& reply) {
  const bool is_open = request.path == "/" || request.path == "/health";
  if (const auto refused = net::refusal_of(request, options_.access, !is_open))
    throw ApiError(refused->status, refused->message, "",
                   refused->status == 401 ? "invalid_api_key" : "");
  const Path& path = path_of(request);
  if (path.path == "/v1/chat/completions") return complete(request, reply, true);
  if (path.path == "/v1/completions") return complete(request, reply, false);
  metrics_.answered(200);
  if (path.path == "/") return send_page(reply);
  if (path.path == "/health")
    return send_json(reply, {{"status", is_draining_ ? "draining" : "ok"}});
  if (path.path == "/metrics")
    return reply->send(
        200, "text/plain; version=0.0.4; charset=utf-8",
        metrics_.text(engine_.stats(), server_ == nullptr ? 0 : server_->num_connections()));
  if (path.path == "/v1/models")
    return send_json(reply, {{"object", "list"},
                             {"data",
                              {{{"id", options_.model_name},
                                {"object", "model"},
                                {"created", 0},
                                {"owned_by", "ingot"},
                                {"max_model_len", engine_.max_tokens()},
                                {"is_base_model", format_.is_base_model()}}}}});
  const Json body = parse_body(request.body);
  send_json(reply, path.path == "/tokenize" ? tokenize(body, model_) : detokenize(body, model_));
}

void Service::complete(const net::HttpRequest& request, const Reply& reply, bool is_chat) {
  const Json body = parse_body(request.body);
  const auto named = CallFields(body).text("model");
  if (named && *named != options_.model_name)
    throw ApiError(404,
                   fmt::format("model: this server has {}, not {}", options_.model_name, *named),
                   "model", "model_not_found");
  Call call = is_chat ? chat_call(body, model_, format_) : completion_call(body, model_);
  const auto wanted = static_cast<int64_t>(call.prompts.size()) * call.num_choices;
  if (engine_.stats().queued + wanted > options_.max_queue)
    throw ApiError(429, "too many requests wait: try again later", "", "queue_full");
  std::make_shared<Answer>(std::move(call), model_, options_.model_name, metrics_, reply)->start();
}

// Nothing but the page's own script and style runs in it, and it asks nobody but this server.
void Service::send_page(const Reply& reply) const {
  std::random_device random;
  const std::string nonce = fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
  std::string text(page());
  constexpr std::string_view kMark = "NONCE-OF-THIS-REPLY";
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at))
    text.replace(at, kMark.size(), nonce);
  reply->send(200, "text/html; charset=utf-8", text,
              {{"Content-Security-Policy",
                fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                            "connect-src 'self'; img-src data:; base-uri 'none'; form-action "
                            "'none'; frame-ancestors 'none'",
                            nonce)},
               {"Referrer-Policy", "no-referrer"},
               {"Cache-Control", "no-store"}});
}

void Service::run() {
  while (!is_stopping_) {
    if (engine_.step() || is_stopping_) continue;
    malloc_trim(0);  // pages of the heap that are free between others, which glibc keeps by itself
    engine_.wait();
  }
}

void Service::stop() {
  is_stopping_ = true;
  engine_.wake();
}

}  // namespace ingot::serve
