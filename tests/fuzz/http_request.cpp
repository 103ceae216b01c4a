// HTTP requests, arbitrary: the parser accepts or refuses them, within its limits, and the same
// whether the bytes come at once or one by one. Input: what a client sends.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/http_request.h"

namespace {

using ingot::net::HttpLimits;
using ingot::net::HttpRequest;
using ingot::net::RequestParser;

constexpr HttpLimits kLimits{512, 8, 256};

// What became of it, as one text.
std::string outcome(std::string_view bytes, size_t piece) {
  RequestParser parser(kLimits);
  std::string text;
  for (int requests = 0; !bytes.empty() && requests < 8;) {
    const size_t used = parser.feed(bytes.substr(0, piece));
    bytes.remove_prefix(used);
    if (parser.problem().status != 0) return text + std::to_string(parser.problem().status);
    if (!parser.is_complete()) continue;
    const HttpRequest request = parser.take();
    if (request.body.size() > kLimits.body_bytes || request.headers.size() > kLimits.num_headers)
      abort();
    text += request.method + ' ' + request.path + '?' + request.query + '\n';
    for (const auto& [name, value] : request.headers) text += name + '=' + value + '\n';
    text += request.body + '\n';
    ++requests;
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (outcome(bytes, 1) != outcome(bytes, size + 1)) abort();
  return 0;
}
