// Who may ask: a key, and checks against pages of other sites in a user's browser.
#pragma once

#include <optional>
#include <string>

#include "net/http_request.h"

namespace ingot::net {

struct AccessRules {
  std::string key = {};       // what «Authorization: Bearer KEY» must say; empty: no key
  bool loopback_only = true;  // then Host must name this machine: a site may give its name any
                              // address, also 127.0.0.1
};

// Why the request is refused; nothing: it is not. Origin, where a browser sends it, must be the
// Host that is asked. `needs_key`: false for what anybody may see, such as a page that asks for the
// key.
std::optional<HttpProblem> refusal_of(const HttpRequest& request, const AccessRules& rules,
                                      bool needs_key);

}  // namespace ingot::net
