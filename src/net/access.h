// Decides which requests are allowed: by a key, and by checks against web pages of other sites.
#pragma once

#include <optional>
#include <string>

#include "net/http_request.h"

namespace ingot::net {

struct AccessRules {
  std::string key = {};       // requests need «Authorization: Bearer KEY»; empty: no key
  bool loopback_only = true;  // Host must name this machine: a web site could give its own name
                              // the address 127.0.0.1
};

// Why the request is refused; nothing if it is allowed. An Origin header, which browsers send, must
// equal Host. `needs_key` is false for what anybody may see, such as the page that asks for the
// key.
std::optional<HttpProblem> refusal_of(const HttpRequest& request, const AccessRules& rules,
                                      bool needs_key);

}  // namespace ingot::net
