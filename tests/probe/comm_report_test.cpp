// What a probe shows, keeps and knows of hosts.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "probe/comm/drawing.h"
#include "probe/comm/probe_world.h"
#include "support/own_folder.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// All links of n ranks at one rate, but for those of `slow`.
std::vector<LinkRate> links_of(int n, int slow, double slow_bytes_s) {
  std::vector<LinkRate> links;
  for (int from = 0; from < n; ++from)
    for (int to = 0; to < n; ++to)
      if (from != to)
        links.push_back(
            {from, to, 1e-5, from == slow || to == slow ? slow_bytes_s : 10e9, 1 << 20});
  return links;
}

TEST(Drawing, ShadesLinksByTheFastest) {
  const auto links = links_of(3, 2, 1e9);
  EXPECT_EQ(draw_links(links, 3),
            "  from\\to 0 1 2\n"
            "       0   ██░░\n"
            "       1 ██  ░░\n"
            "       2 ░░░░  \n"
            "  ░ below 25 %  ▒ below 50 %  ▓ below 80 %  █ of the fastest, 10.0 GB/s\n");
}

TEST(Drawing, OfManyRanksShowsTheSlowestOfEachCell) {
  const std::string text = draw_links(links_of(100, 99, 1e9), 100, 32);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 27);  // 25 cells of 4 ranks
  EXPECT_NE(text.find("a cell is the slowest of 4 × 4"), std::string::npos);
  const size_t last_row = text.rfind("      96 ");
  ASSERT_NE(last_row, std::string::npos);
  EXPECT_EQ(text.substr(last_row + 9, 6), "░░");
  EXPECT_EQ(draw_links({}, 1), "");
}

TEST(Drawing, SlowLinksAreThoseBelowHalfOfTheMedian) {
  auto links = links_of(4, -1, 0);
  EXPECT_TRUE(slow_links(links).empty());
  links[3].bytes_s = 4e9, links[7].bytes_s = 1e9, links[8].bytes_s = 6e9;
  const auto slow = slow_links(links);
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].bytes_s, 1e9);
  EXPECT_EQ(slowest_link(links)->from, links[7].from);
  EXPECT_EQ(slowest_link({}), nullptr);
}

TEST(LinkLimits, OfGpusAreByTheirMaker) {
  EXPECT_DOUBLE_EQ(gpu_link_limit("NVIDIA H200").bytes_s, 450e9);
  EXPECT_EQ(gpu_link_limit("unheard of").bytes_s, 0.0);
  EXPECT_EQ(format_bit_rate(125e6), "1.0 Gbit/s");
  EXPECT_EQ(format_bit_rate(12.5e6), "100 Mbit/s");
}

// A report of two machines, one rank each, on eth0 of 1 and 10 Gbit/s.
ProbeReport two_machines() {
  ProbeReport report;
  report.transport = "tcp";
  report.ranks = {{.host = "a", .device = "cpu"}, {.host = "b", .device = "cpu"}};
  report.nodes = {{"a", {0}}, {"b", {1}}};
  for (const double gbit : {1.0, 10.0}) {
    NodeFacts node;
    node.host.name = gbit == 1.0 ? "a" : "b";
    node.host.cores = gbit == 1.0 ? 8 : 4;
    node.host.memory_bytes = 1 << 30;
    node.host.interfaces = {{"eth0", true, false, true, gbit * 1e9 / 8, {"10.0.0.1"}}};
    node.interface = "eth0";
    report.node_facts.push_back(node);
  }
  report.ranks[0].rates.gemm_f32 = 5e9, report.ranks[1].rates.gemm_f32 = 3e9;
  report.links = {{{0, 1, 2e-4, 1e8, 1 << 20}, link_limit(report, 0, 1), true},
                  {{1, 0, 3e-4, 1.2e8, 1 << 20}, link_limit(report, 1, 0), true}};
  report.collectives = {{ProbedCollective::AllReduce, "world", 2, 1024, 1e-4}};
  return report;
}

TEST(ProbeReport, ALinkBetweenMachinesIsAsFastAsTheSlowerCard) {
  const ProbeReport report = two_machines();
  EXPECT_DOUBLE_EQ(report.links[0].limit.bytes_s, 125e6);
  const std::string text = text_of(report);
  EXPECT_NE(text.find("slowest  0 (a) → 1 (b): 100.0 MB/s, latency 200.0 µs, 80 % of 125.0 MB/s"),
            std::string::npos)
      << text;
  EXPECT_EQ(to_json(report).at("slowest_link"), nlohmann::json({0, 1}));
}

TEST(ProbeReport, BecomesAProfileOfTheLeast) {
  const HardwareProfile profile = profile_of(two_machines(), "2026-11-16T12:00:00Z");
  EXPECT_EQ(profile.cores, 4);
  EXPECT_EQ(profile.gemm_f32, 3'000'000'000);
  EXPECT_EQ(profile.between_bytes_s, 100'000'000);
  EXPECT_EQ(profile.between_latency_ns, 300'000);
  EXPECT_EQ(profile.within_bytes_s, 0);
  ASSERT_EQ(profile.senders.size(), 2u);
  EXPECT_EQ(profile.senders[1].bytes_s, (std::vector<int64_t>{120'000'000, 0}));
  EXPECT_EQ(to_toml(parse_hardware_profile(to_toml(profile), "p.toml")), to_toml(profile));
}

TEST(ProbeWorld, GivesEveryRankTheSameReport) {
  std::vector<std::string> reports(2);
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    ThreadPool pool(1);
    Context ctx;
    ctx.pool = &pool;
    const ProbeReport report =
        probe_world(world, ctx, ctx, {.seconds = 0.2, .most_bytes = 1 << 16});
    EXPECT_EQ(report.nodes.size(), 1u);
    EXPECT_TRUE(report.ranks[0].measured);
    EXPECT_FALSE(report.ranks[1].measured);  // it has the same device
    EXPECT_EQ(report.links.size(), 2u);
    reports[static_cast<size_t>(world.rank())] = to_json(report).dump();
  });
  EXPECT_EQ(reports[0], reports[1]);
}

class HostTree : public ::testing::Test {
 protected:
  void SetUp() override { root_ = testing_support::own_folder(); }
  void TearDown() override { fs::remove_all(root_); }
  void plant(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  fs::path root_;
};

TEST_F(HostTree, InterfacesHaveTheSpeedThatTheySay) {
  plant("class/net/eth0/operstate", "up");
  plant("class/net/eth0/speed", "25000");
  plant("class/net/eth0/type", "1");
  plant("class/net/eth0/device/vendor", "0x15b3");
  plant("class/net/lo/operstate", "unknown");
  plant("class/net/lo/carrier", "1");
  plant("class/net/lo/type", "772");
  plant("class/net/tun0/operstate", "down");
  plant("class/net/tun0/speed", "-1");
  const auto interfaces = interfaces_in(root_);
  ASSERT_EQ(interfaces.size(), 3u);
  EXPECT_EQ(interfaces[0].name, "eth0");
  EXPECT_TRUE(interfaces[0].up && interfaces[0].hardware && !interfaces[0].loopback);
  EXPECT_DOUBLE_EQ(interfaces[0].bytes_s, 25e9 / 8);
  EXPECT_TRUE(interfaces[1].up && interfaces[1].loopback && !interfaces[1].hardware);
  EXPECT_FALSE(interfaces[2].up);
  EXPECT_EQ(interfaces[2].bytes_s, 0.0);
  EXPECT_TRUE(interfaces_in(root_ / "none").empty());
}

TEST_F(HostTree, InfinibandPortsAreActiveOrNot) {
  plant("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  plant("class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)");
  plant("class/infiniband/mlx5_1/ports/1/state", "1: DOWN");
  const auto ports = infiniband_in(root_);
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_TRUE(ports[0].active);
  EXPECT_DOUBLE_EQ(ports[0].bytes_s, 50e9);
  EXPECT_FALSE(ports[1].active);
}

TEST(HostFacts, AreOfThisMachineAndSurviveTheirJson) {
  const HostFacts facts = host_facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GT(facts.cores, 0);
  EXPECT_GT(facts.memory_bytes, int64_t{64} << 20);
  EXPECT_EQ(nlohmann::json(facts), nlohmann::json(nlohmann::json(facts).get<HostFacts>()));
  const Route route = route_to("127.0.0.1");
  EXPECT_EQ(route.to, "127.0.0.1");
  EXPECT_TRUE(is_loopback_address(route.from));
  EXPECT_EQ(route_to("no such host.invalid").to, "");
}

TEST(MeasureDisk, LeavesNothingBehindAndRefusesWhatIsNoFolder) {
  const fs::path folder = testing_support::own_folder();
  fs::create_directories(folder);
  const DiskRate rate = measure_disk(folder, 8 << 20);
  EXPECT_EQ(rate.bytes, 8 << 20);
  EXPECT_GT(rate.write_bytes_s, 0.0);
  EXPECT_GT(rate.read_bytes_s, 0.0);
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
  EXPECT_THROW(measure_disk(folder, 8 << 20), Error);
}

}  // namespace
}  // namespace ingot
