#include "remote/http_library.h"

#include <curl/curl.h>

#include <memory>

#include "remote/http_reply.h"

namespace ingot {
namespace {

constexpr long kConnectSeconds = 30, kMaxRedirects = 10, kBufferBytes = 256 << 10;

struct Transfer {
  const HttpRequest& request;
  const HttpSink& sink;
  HttpReply reply;
  bool stopped = false;
};

size_t on_header(char* data, size_t, size_t size, void* transfer) {
  read_header_line({data, size}, static_cast<Transfer*>(transfer)->reply);
  return size;
}

size_t on_body(char* data, size_t, size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.stopped = !transfer.sink(transfer.reply, {data, size});
  return transfer.stopped ? CURL_WRITEFUNC_ERROR : size;
}

int on_progress(void* transfer, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* cancelled = static_cast<Transfer*>(transfer)->request.cancelled;
  return cancelled != nullptr && *cancelled ? 1 : 0;
}

class Curl final : public HttpLibrary {
 public:
  Curl() { curl_global_init(CURL_GLOBAL_DEFAULT); }

  HttpReply get(const HttpRequest& request, const HttpSink& sink) override {
    Transfer transfer{request, sink, {}, false};
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                   curl_easy_cleanup);
    if (curl == nullptr) {
      transfer.reply.broken = "libcurl does not start";
      return transfer.reply;
    }
    curl_slist* list = nullptr;
    for (const auto& header : request.headers) list = curl_slist_append(list, header.c_str());
    if (request.offset > 0) {
      list =
          curl_slist_append(list, ("Range: bytes=" + std::to_string(request.offset) + "-").c_str());
    }
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                              curl_slist_free_all);
    char error[CURL_ERROR_SIZE] = "";
    const auto set = [&](CURLoption option, auto value) {
      curl_easy_setopt(curl.get(), option, value);
    };
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_USERAGENT, "ingot");
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kMaxRedirects);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_BUFFERSIZE, kBufferBytes);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_seconds));
    set(CURLOPT_ERRORBUFFER, error);
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, &transfer);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &transfer);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, &transfer);
    const CURLcode code = curl_easy_perform(curl.get());
    if (code != CURLE_OK) {
      transfer.reply.broken = transfer.stopped   ? "stopped"
                              : error[0] != '\0' ? error
                                                 : curl_easy_strerror(code);
    }
    return transfer.reply;
  }
};

}  // namespace
}  // namespace ingot

extern "C" ingot::HttpLibrary* ingot_http_library() {
  static ingot::Curl library;
  return &library;
}
