#include "remote/fetch.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "core/error/error.h"
#include "core/system/module.h"

namespace ingot {
namespace {

constexpr int64_t kMaxDelayMs = 60'000;
constexpr size_t kMaxTextBytes = size_t{256} << 20;

HttpLibrary& http_library(const std::string& address) {
  void* function = load_module_function(
      kHttpModule, kHttpFunction,
      address + ": http:// and hf:// need libcurl (Debian package libcurl4) and our module for it");
  return *reinterpret_cast<HttpFunction*>(function)();
}

bool is_worth_another_try(int status) {
  return status == 0 || status == 408 || status == 429 || status >= 500;
}

}  // namespace

void Fetch::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(mutex_);
  wake_.notify_all();
}

// Whether to continue the transfer, now that the reply's header is known.
bool Fetch::accept(const HttpReply& head, FetchSink& sink) {
  const WebVersion coming{head.etag, head.total_bytes};
  const bool has_etags = !version_.etag.empty() && !coming.etag.empty();
  const bool is_other = (has_etags && coming.etag != version_.etag) ||
                        (version_.total_bytes >= 0 && coming.total_bytes >= 0 &&
                         coming.total_bytes != version_.total_bytes);
  if (position_ > 0 && is_other) {
    check(sink.restart(), ErrorCode::Data,
          "{}: the file changed on the server while it was read; start again", file_.address);
    position_ = 0;
    version_ = {};
    if (head.status == 206) return false;  // the beginning is needed now
  }
  if (head.status == 206 && head.offset != position_) {
    last_failure_ =
        fmt::format("asked for bytes from {} on, got them from {} on", position_, head.offset);
    return false;
  }
  if (version_.total_bytes < 0) version_.total_bytes = coming.total_bytes;
  if (version_.etag.empty()) version_.etag = coming.etag;
  sink.version(version_);
  return true;
}

Fetch::Attempt Fetch::attempt(FetchSink& sink) {
  bool accepted = false, refused = false;
  int64_t to_skip = 0;  // a server that knows no ranges begins again
  std::exception_ptr failure;
  const HttpSink pieces = [&](const HttpReply& head, std::string_view piece) {
    if (head.status != 200 && head.status != 206) return true;  // an error's page
    try {
      if (!accepted) {
        refused = !accept(head, sink);
        if (refused) return false;
        accepted = true;
        to_skip = head.status == 200 ? position_ : 0;
      }
      const auto skipped =
          static_cast<size_t>(std::min<int64_t>(to_skip, static_cast<int64_t>(piece.size())));
      piece.remove_prefix(skipped);
      to_skip -= static_cast<int64_t>(skipped);
      if (!piece.empty()) sink.write(piece);
      position_ += static_cast<int64_t>(piece.size());
      return !cancelled_.load();
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  };
  const HttpRequest request{file_.url, file_.headers, position_, settings_.stall_seconds,
                            &cancelled_};
  HttpReply reply = http_library(file_.address).get(request, pieces);
  if (failure) std::rethrow_exception(failure);
  if (cancelled_) return Attempt::Stopped;
  retry_after_seconds_ = reply.retry_after_seconds;
  link_ = reply.link;
  if (refused) return Attempt::Again;
  if (reply.status == 416 && position_ > 0) {  // there is nothing behind what is known
    if (reply.total_bytes == position_) return Attempt::Done;
    if (sink.restart()) {
      position_ = 0;
      version_ = {};
      return Attempt::Again;
    }
  }
  if (reply.status == 200 && reply.broken.empty() && !accepted && !accept(reply, sink)) {
    return Attempt::Again;  // an empty file
  }
  const bool came = reply.status == 200 || reply.status == 206;
  if (!came && !is_worth_another_try(reply.status)) refuse(reply);
  if (came && reply.broken.empty() &&
      (version_.total_bytes < 0 || position_ == version_.total_bytes)) {
    return Attempt::Done;
  }
  last_failure_ = !came && reply.status != 0 ? fmt::format("the server answers {}", reply.status)
                  : !reply.broken.empty()    ? reply.broken
                                             : "the transfer ended early";
  return Attempt::Again;
}

void Fetch::refuse(const HttpReply& reply) const {
  std::string hint;
  const bool is_hub = file_.address.starts_with("hf://");
  if (reply.status == 401 || reply.status == 403)
    hint = is_hub
               ? ": there is no such repository, or it is private or gated: check the name, accept "
                 "its terms on its page, and set HF_TOKEN to a token that may read it"
               : "; is a token needed, or another one?";
  if (reply.status == 404) hint = ": there is no such file, or it is not public";
  if (reply.status == 416) hint = ": the file is shorter than it was";
  throw Error(ErrorCode::Data,
              fmt::format("{}: the server answers {}{}", file_.address, reply.status, hint));
}

// False where it was cancelled meanwhile.
bool Fetch::wait(int64_t attempts_made) {
  int64_t delay_ms = settings_.first_delay_ms << std::min<int64_t>(attempts_made - 1, 16);
  delay_ms = std::max(delay_ms, std::min(retry_after_seconds_, kMaxDelayMs / 1000) * 1000);
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(std::min(delay_ms, kMaxDelayMs)),
                 [&] { return cancelled_.load(); });
  return !cancelled_;
}

bool Fetch::run(int64_t offset, WebVersion known, FetchSink& sink) {
  position_ = offset;
  version_ = std::move(known);
  for (int64_t attempts = 0;;) {
    const int64_t before = position_;
    const Attempt outcome = attempt(sink);
    if (outcome == Attempt::Done) return true;
    if (outcome == Attempt::Stopped) return false;
    attempts = position_ > before ? 1 : attempts + 1;
    check(attempts < settings_.max_attempts, ErrorCode::Storage,
          "{}: failed after {} attempts at byte {}{}: {}", file_.address, attempts, position_,
          version_.total_bytes >= 0 ? fmt::format(" of {}", version_.total_bytes) : "",
          last_failure_);
    if (!wait(attempts)) return false;
  }
}

std::string fetch_etag(const WebFile& file, const RemoteSettings& settings) {
  const HttpRequest request{file.url, file.headers, 0, settings.stall_seconds, nullptr};
  const HttpReply reply =
      http_library(file.address).get(request, [](const HttpReply&, std::string_view) {
        return false;
      });
  return reply.status == 200 ? reply.etag : "";
}

std::string fetch_text(const WebFile& file, const RemoteSettings& settings, std::string* link) {
  struct Text final : FetchSink {
    std::string text;
    void version(const WebVersion&) override {}
    void write(std::string_view bytes) override {
      check(text.size() + bytes.size() <= kMaxTextBytes, ErrorCode::Data,
            "the answer is longer than {} bytes", kMaxTextBytes);
      text += bytes;
    }
    bool restart() override {
      text.clear();
      return true;
    }
  } sink;
  Fetch fetch(file, settings);
  fetch.run(0, {}, sink);
  if (link != nullptr) *link = fetch.link();
  return std::move(sink.text);
}

}  // namespace ingot
