// What is advised for facts that are planted.
#include <gtest/gtest.h>

#include "probe/comm/advice.h"

namespace ingot {
namespace {

NetworkInterface card(const std::string& name, const std::string& address, double gbit = 100) {
  return {name, /*up=*/true, /*loopback=*/false, /*hardware=*/true, gbit * 1e9 / 8, {address}};
}

// A machine with two GPU ranks and one card.
NodeFacts machine(const std::string& name, int first_rank) {
  NodeFacts node;
  node.host.name = name;
  node.host.shm_free_bytes = int64_t{1} << 30;
  node.host.interfaces = {{"lo", true, true, false, 0, {"127.0.0.1"}},
                          card("eth0", "10.0.0." + std::to_string(first_rank + 1))};
  node.host.gpus = {"NVIDIA H200", "NVIDIA H200"};
  node.ranks = {first_rank, first_rank + 1};
  node.rendezvous_address = "10.0.0.1";
  node.interface = "eth0";
  return node;
}

// Nothing is wrong with these.
ProbeFacts two_machines() {
  ProbeFacts facts;
  facts.transport = "nccl";
  facts.on_gpu = true;
  facts.nodes = {machine("a", 0), machine("b", 2)};
  facts.within = {400e9, 450e9};
  facts.between = {11e9, 12.5e9};
  facts.host_copy_bytes_s = 55e9;
  return facts;
}

// The one advice, which must be about `variable`.
Advice only(const ProbeFacts& facts, const std::string& variable) {
  const auto all = advise(facts);
  EXPECT_EQ(all.size(), 1u) << variable;
  if (all.empty()) return {};
  EXPECT_EQ(all.front().variable, variable);
  EXPECT_FALSE(all.front().why.empty());
  return all.front();
}

TEST(Advice, IsSilentWhereNothingIsWrong) {
  EXPECT_TRUE(advise(two_machines()).empty());
  EXPECT_TRUE(advise({}).empty());
}

TEST(Advice, OfNcclIsForThoseWhoUseIt) {
  ProbeFacts facts = two_machines();
  facts.between = {1e9, 12.5e9};
  facts.nodes[0].host.shm_free_bytes = 0;
  for (const char* transport : {"threads", "tcp", "mpi"}) {
    facts.transport = transport;
    EXPECT_TRUE(advise(facts).empty()) << transport;
  }
}

TEST(Advice, FindsTheLoopbackTrap) {
  ProbeFacts facts = two_machines();
  facts.nodes[1].rendezvous_address = "127.0.1.1";
  const auto all = advise(facts);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].variable, "MASTER_ADDR");
  EXPECT_EQ(all[0].value, "10.0.0.1");
  EXPECT_EQ(all[1].variable, "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(all[1].value, "eth0");
  for (const Advice& advice : all)
    EXPECT_NE(advice.why.find("loopback address on b"), std::string::npos) << advice.why;
  facts.transport = "tcp";  // names mislead it as well
  EXPECT_EQ(only(facts, "MASTER_ADDR").value, "10.0.0.1");
  facts.nodes.pop_back();
  facts.nodes[0].rendezvous_address = "127.0.0.1";  // one machine may talk to itself
  EXPECT_TRUE(advise(facts).empty());
}

TEST(Advice, NamesInterfacesToLeaveOutWhereMachinesHaveNoneInCommon) {
  ProbeFacts facts = two_machines();
  facts.nodes[1].host.interfaces[1].name = facts.nodes[1].interface = "ens5";
  for (NodeFacts& node : facts.nodes)
    node.host.interfaces.push_back({"docker0", true, false, false, 0, {"172.17.0.1"}});
  EXPECT_EQ(only(facts, "NCCL_SOCKET_IFNAME").value, "^lo,docker0");
  for (NodeFacts& node : facts.nodes) node.environment["NCCL_SOCKET_IFNAME"] = "^docker0";
  EXPECT_TRUE(advise(facts).empty());
}

TEST(Advice, PrefersTheFasterOfTwoCards) {
  ProbeFacts facts = two_machines();
  for (NodeFacts& node : facts.nodes) {
    node.host.interfaces.push_back(card("mgmt0", "192.168.0.1", 1));
    node.interface = "mgmt0";
  }
  const Advice advice = only(facts, "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(advice.value, "eth0");
  EXPECT_NE(advice.why.find("100 times"), std::string::npos) << advice.why;
}

TEST(Advice, OfInfiniband) {
  ProbeFacts facts = two_machines();
  facts.nodes[0].host.infiniband = {{"mlx5_0/1", true, 50e9}};
  EXPECT_EQ(only(facts, "NCCL_IB_DISABLE").value, "1");  // one machine alone has it

  facts.nodes[1].host.infiniband = {{"mlx5_0/1", false, 50e9}};
  EXPECT_EQ(only(facts, "NCCL_IB_DISABLE").value, "1");  // a port that is down is none

  facts.nodes[1].host.infiniband[0].active = true;
  EXPECT_TRUE(advise(facts).empty());
  facts.nodes[1].environment["NCCL_IB_DISABLE"] = "1";
  EXPECT_EQ(only(facts, "NCCL_IB_DISABLE").value, "");  // take it away
  facts.nodes[1].environment.clear();
  facts.between = {1e9, 50e9};
  EXPECT_EQ(only(facts, "NCCL_IB_DISABLE").value, "1");  // to compare
}

TEST(Advice, OfTheNetworkThatIsAskedFor) {
  ProbeFacts facts = two_machines();
  facts.nodes[0].environment["NCCL_NET"] = "IB";
  EXPECT_EQ(only(facts, "NCCL_NET").value, "Socket");
  for (NodeFacts& node : facts.nodes) node.host.infiniband = {{"mlx5_0/1", true, 50e9}};
  EXPECT_TRUE(advise(facts).empty());
  facts.nodes[0].environment["NCCL_NET"] = "Socket";
  EXPECT_EQ(only(facts, "NCCL_NET").value, "IB");
}

TEST(Advice, OfAPluginThatOneMachineHas) {
  ProbeFacts facts = two_machines();
  facts.nodes[1].host.has_nccl_net_plugin = true;
  EXPECT_EQ(only(facts, "NCCL_NET_PLUGIN").value, "none");
  facts.nodes[0].host.has_nccl_net_plugin = true;
  EXPECT_TRUE(advise(facts).empty());
}

TEST(Advice, OfCopiesBetweenGpus) {
  ProbeFacts facts = two_machines();
  facts.within = {5e9, 31.5e9};
  EXPECT_EQ(only(facts, "NCCL_P2P_DISABLE").value, "1");  // slower than by host memory
  facts.nodes[0].environment["NCCL_P2P_DISABLE"] = "1";
  EXPECT_EQ(only(facts, "NCCL_P2P_DISABLE").value, "");
}

TEST(Advice, OfSharedMemoryThatIsTooSmall) {
  ProbeFacts facts = two_machines();
  facts.nodes[1].host.shm_free_bytes = 60 << 20;
  const Advice advice = only(facts, "NCCL_SHM_DISABLE");
  EXPECT_EQ(advice.value, "1");
  EXPECT_NE(advice.why.find("--shm-size"), std::string::npos);
}

TEST(Advice, AsksNcclWhereASlowLinkHasNoReason) {
  ProbeFacts facts = two_machines();
  facts.between = {5e9, 12.5e9};
  EXPECT_EQ(only(facts, "NCCL_DEBUG").value, "INFO");
  facts.between.limit_bytes_s = 0;  // nobody knows what it should give
  EXPECT_TRUE(advise(facts).empty());
}

}  // namespace
}  // namespace ingot
