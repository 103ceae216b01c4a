// The hosts that tests of launchers run on are what they claim to be.
#include "cli/namespaces.h"

#include <gtest/gtest.h>

#include "support/own_folder.h"

namespace ingot::test {
namespace {

class Hosts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Network::missing().empty()) GTEST_SKIP() << "hosts need " << Network::missing();
    root_ = testing_support::own_folder();
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string said_on(Network& network, int i, const std::string& command) const {
    std::vector<std::string> words = network.host(i).launcher();
    words.insert(words.end(), {"sh", "-c", command});
    Process process(root_, words);
    process.wait();
    return process.out();
  }

  std::filesystem::path root_;
};

TEST_F(Hosts, HaveNamesOfTheirOwnAndLogInOnEachOther) {
  Network network(root_ / "network", 2);
  EXPECT_EQ(said_on(network, 0, "hostname; ssh node2 hostname; ssh node2 ssh node1 hostname"),
            "node1\nnode2\nnode1\n");
}

TEST_F(Hosts, AreOutOfReachOnceTheirPacketsOrTheirCableOrTheirPowerAreGone) {
  Network network(root_ / "network", 4);
  // Port 23 has no listener: who is reached says so at once.
  const auto reaches = [&](int i) {
    const std::string address = Network::address(i);
    return said_on(network, 0,
                   "timeout 0.3 bash -c '</dev/tcp/" + address + "/23' 2>&1 | grep -c refused");
  };
  for (const int i : {1, 2, 3}) EXPECT_NE(reaches(i), "0\n") << i;
  network.drop_packets(1);
  network.pull_cable(2);
  network.remove_card(3);
  for (const int i : {1, 2, 3}) EXPECT_EQ(reaches(i), "0\n") << i;
  EXPECT_EQ(said_on(network, 0, "ssh node2 hostname"), "node2\n");
  network.deliver_packets(1);
  EXPECT_NE(reaches(1), "0\n");
  network.power_off(1);
  EXPECT_EQ(reaches(1), "0\n");
}

TEST_F(Hosts, EndWithAllThatRunsOnThem) {
  Network network(root_ / "network", 1);
  std::vector<std::string> words = network.host(0).launcher();
  words.insert(words.end(), {"sh", "-c", "echo up; exec sleep 1000"});
  Process process(root_, words);
  while (process.out().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  network.power_off(0);
  EXPECT_NE(process.wait(), 0);
}

}  // namespace
}  // namespace ingot::test
