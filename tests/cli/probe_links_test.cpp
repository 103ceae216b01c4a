// ingot probe finds out what a link gives: hosts that are namespaces, cards that are slowed down.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/delaying_cable.h"
#include "cli/namespaces.h"
#include "support/own_folder.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
constexpr double kGbit = 1e9 / 8;  // bytes a second

class ProbeLinks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    root_ = testing_support::own_folder();
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // What leaves a host goes no faster from now on. `burst` is some milliseconds of that, so that a
  // busy machine which lets the bucket run over loses little, and a message of many times as much
  // does not profit from a full one.
  static void slow_down(Network& network, int host, const std::string& rate,
                        const std::string& burst) {
    network.run(host,
                "tc qdisc add dev eth0 root tbf latency 50ms rate " + rate + " burst " + burst);
  }

  // One rank on each host, started as torchrun would; what rank 0 says.
  nlohmann::json probe(Network& network, int hosts, const std::vector<std::string>& more,
                       const std::string& rendezvous = Network::name(0)) const {
    std::vector<std::unique_ptr<Process>> ranks;
    for (int rank = 0; rank < hosts; ++rank) {
      const fs::path folder = root_ / ("rank" + std::to_string(rank));
      fs::create_directories(folder);
      std::vector<std::string> words = network.host(rank).launcher();
      words.insert(words.end(),
                   {"env", "RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(hosts),
                    "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1", "MASTER_ADDR=" + rendezvous,
                    "MASTER_PORT=29500", program(), "probe", "--device", "cpu", "--json"});
      words.insert(words.end(), more.begin(), more.end());
      ranks.push_back(std::make_unique<Process>(folder, words));
    }
    for (const auto& rank : ranks) EXPECT_EQ(rank->wait(), 0) << rank->err();
    const std::string out = ranks[0]->out();
    const size_t end = out.find_last_not_of('\n');
    return nlohmann::json::parse(out.substr(out.rfind('\n', end) + 1), nullptr, false);
  }

  fs::path root_;
};

TEST_F(ProbeLinks, ACardOfAGigabitIsMeasuredWithinTenPercent) {
  Network network(root_ / "network", 2);
  for (const int host : {0, 1}) slow_down(network, host, "1gbit", "512k");
  const auto line = probe(network, 2, {"--seconds", "4", "--max-bytes", "16MiB"});
  ASSERT_TRUE(line.is_object());
  EXPECT_EQ(line.at("transport"), "tcp");
  ASSERT_EQ(line.at("nodes").size(), 2u);
  EXPECT_EQ(line.at("nodes")[1].at("name"), "node2");
  EXPECT_EQ(line.at("nodes")[1].at("interface"), "eth0");
  ASSERT_EQ(line.at("links").size(), 2u);
  for (const auto& link : line.at("links")) {
    EXPECT_TRUE(link.at("between_nodes"));
    EXPECT_NEAR(link.at("bytes_s").get<double>(), kGbit, 0.1 * kGbit) << link;
  }
}

TEST_F(ProbeLinks, OfThreeHostsTheSlowOneIsNamed) {
  Network network(root_ / "network", 3);
  for (const int host : {0, 1}) slow_down(network, host, "1gbit", "512k");
  slow_down(network, 2, "100mbit", "64k");
  const auto line = probe(network, 3, {"--seconds", "6", "--max-bytes", "4MiB"});
  ASSERT_TRUE(line.is_object());
  // Both of the links that leave it, and no other.
  std::set<std::pair<int, int>> slow;
  for (const auto& link : line.at("slow_links")) slow.emplace(link[0], link[1]);
  EXPECT_EQ(slow, (std::set<std::pair<int, int>>{{2, 0}, {2, 1}}));
  EXPECT_EQ(line.at("slowest_link")[0], 2);
  for (const auto& link : line.at("links")) {
    const double rate = link.at("bytes_s");
    if (link.at("from") == 2) {  // as its cable lets it, or less where others take the cores
      EXPECT_GT(rate, 0.05 * kGbit) << link;
      EXPECT_LT(rate, 0.11 * kGbit) << link;
    } else {
      EXPECT_GT(rate, 0.4 * kGbit) << link;
    }
  }
}

TEST_F(ProbeLinks, ALongCableIsALatency) {
  constexpr std::chrono::milliseconds kDelay(10);
  Network network(root_ / "network", 2);
  const DelayingCable cable(network, kDelay);
  const auto line =
      probe(network, 2, {"--seconds", "1", "--max-bytes", "1024"}, DelayingCable::address(0));
  ASSERT_TRUE(line.is_object());
  EXPECT_EQ(line.at("nodes")[1].at("interface"), "tun0");
  ASSERT_EQ(line.at("links").size(), 2u);
  for (const auto& link : line.at("links")) {
    const double delay = 1e-3 * kDelay.count();
    EXPECT_GE(link.at("latency_seconds").get<double>(), delay);
    EXPECT_LT(link.at("latency_seconds").get<double>(), 3 * delay);
  }
}

// A machine's own name in its /etc/hosts, as Debian puts it there.
TEST_F(ProbeLinks, ARendezvousThatIsALoopbackAddressOnItsMachineIsToldOf) {
  Network network(root_ / "network", 2);
  std::ofstream(root_ / "hosts") << "127.0.0.1 localhost\n127.0.1.1 node1\n";
  network.run(0, "mount --bind " + (root_ / "hosts").string() + " /etc/hosts");
  network.run(0, "ip addr add 127.0.1.1/8 dev lo || true");
  const auto line = probe(network, 2, {"--seconds", "0.2", "--max-bytes", "1024"});
  ASSERT_TRUE(line.is_object());
  EXPECT_EQ(line.at("nodes")[0].at("rendezvous_address"), "127.0.1.1");
  ASSERT_EQ(line.at("advice").size(), 1u);
  EXPECT_EQ(line.at("advice")[0].at("variable"), "MASTER_ADDR");
}

}  // namespace
}  // namespace ingot::test
