#include <gtest/gtest.h>

#include "parallel/tcp_ranks.h"

namespace ingot::test {
namespace {

class TcpRanks : public CommunicatorConformance {};
TEST_P(TcpRanks, Holds) {
  hold();
}
std::vector<Backend> tcp_ranks() {
  std::vector<Backend> backends;
  for (const int ranks : {1, 2, 3, 4, 5}) backends.push_back(tcp_backend(ranks));
  return backends;
}
INSTANTIATE_TEST_SUITE_P(Promises, TcpRanks, promises_on(tcp_ranks()), promise_name);

}  // namespace
}  // namespace ingot::test
