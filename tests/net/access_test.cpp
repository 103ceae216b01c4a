#include "net/access.h"

#include <gtest/gtest.h>

namespace ingot::net {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

// 0: not refused.
int status(const Headers& headers, const AccessRules& rules, bool needs_key = true) {
  HttpRequest request;
  request.headers = headers;
  const auto refused = refusal_of(request, rules, needs_key);
  return refused ? refused->status : 0;
}

TEST(Access, AServerOfThisMachineAnswersToItsOwnNamesAlone) {
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]:1"})
    EXPECT_EQ(status({{"host", host}}, {}), 0) << host;
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                           "127.0.0.1.evil.example", "10.0.0.1", "", "[::2]"})
    EXPECT_EQ(status({{"host", host}}, {}), 421) << host;
  EXPECT_EQ(status({{"host", "box.lan"}}, {"k", false}, false), 0);
}

TEST(Access, PagesOfOtherSitesMayNotAsk) {
  const auto from = [](const char* origin) {
    return status({{"host", "localhost:8080"}, {"origin", origin}}, {});
  };
  EXPECT_EQ(from("http://localhost:8080"), 0);
  for (const char* origin : {"http://localhost:9090", "https://evil.example", "null",
                             "http://localhost:8080.evil.example", "localhost:8080"})
    EXPECT_EQ(from(origin), 403) << origin;
}

TEST(Access, TheKeyMustBeRight) {
  const AccessRules rules{"secret", false};
  const auto with = [&](const char* value) { return status({{"authorization", value}}, rules); };
  EXPECT_EQ(with("Bearer secret"), 0);
  for (const char* value :
       {"Bearer secre", "Bearer secrets", "Bearer ", "secret", "Basic secret", "Bearer xecret"})
    EXPECT_EQ(with(value), 401) << value;
  EXPECT_EQ(status({}, rules), 401);
  EXPECT_EQ(status({}, rules, /*needs_key=*/false), 0);
}

}  // namespace
}  // namespace ingot::net
