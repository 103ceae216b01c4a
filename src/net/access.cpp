#include "net/access.h"

#include <string_view>

#include "net/listener.h"

namespace ingot::net {
namespace {

// "localhost" of "localhost:8080", "::1" of "[::1]:8080".
std::string host_of(std::string_view authority) {
  if (authority.starts_with('[')) return std::string(authority.substr(1, authority.find(']') - 1));
  return std::string(authority.substr(0, authority.find(':')));
}

// In a time that does not tell how much of it is right.
bool is_key(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned>(given[i] ^ key[i % key.size()]);
  return difference == 0;
}

}  // namespace

std::optional<HttpProblem> refusal_of(const HttpRequest& request, const AccessRules& rules,
                                      bool needs_key) {
  const std::string* host = request.header("host");
  if (rules.loopback_only && host != nullptr && !is_loopback(host_of(*host)))
    return HttpProblem{421,
                       "Host: expected localhost or 127.0.0.1, since this server listens for "
                       "programs of its own machine alone"};
  if (const std::string* origin = request.header("origin")) {
    const size_t scheme = origin->find("://");
    const bool same = host != nullptr && scheme != std::string::npos &&
                      std::string_view(*origin).substr(scheme + 3) == *host;
    if (!same) return HttpProblem{403, "Origin: pages of other sites may not ask this server"};
  }
  if (rules.key.empty() || !needs_key) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string* given = request.header("authorization");
  if (given == nullptr || !given->starts_with(kScheme))
    return HttpProblem{401, "Authorization: expected «Bearer KEY» with the key of this server"};
  if (!is_key(std::string_view(*given).substr(kScheme.size()), rules.key))
    return HttpProblem{401, "Authorization: this is not the key of this server"};
  return std::nullopt;
}

}  // namespace ingot::net
