#include "spec/machine/hardware_profile.h"

#include <gtest/gtest.h>

#include "core/error/error.h"

namespace ingot {
namespace {

HardwareProfile two_gpus() {
  HardwareProfile p;
  p.made = "2026-11-16T12:00:00Z";
  p.transport = "nccl";
  p.ranks = 2, p.nodes = 1;
  p.on_gpu = true;
  p.device_name = "NVIDIA \"H200\" \\ x";  // what TOML must quote
  p.major = 9, p.sms = 132, p.device_memory_bytes = int64_t{141} << 30, p.l2_bytes = 60 << 20;
  p.cores = 96, p.host_memory_bytes = int64_t{1} << 40;
  p.gemm_bf16 = 700'000'000'000'000;
  p.within_bytes_s = 400'000'000'000, p.within_latency_ns = 9000;
  p.senders = {{0, {0, 400'000'000'000}, {0, 9000}}, {1, {410'000'000'000, 0}, {8000, 0}}};
  p.collectives = {{"all_reduce", "world", 2, 1 << 20, 25'000}};
  return p;
}

TEST(HardwareProfile, ReadsBackAsItWasWritten) {
  const HardwareProfile p = two_gpus();
  const HardwareProfile read = parse_hardware_profile(to_toml(p), "p.toml");
  EXPECT_EQ(to_toml(read), to_toml(p));
  EXPECT_EQ(read.senders[1].bytes_s, p.senders[1].bytes_s);
  EXPECT_EQ(read.collectives[0].ns, 25'000);
  const DeviceFacts facts = device_facts_of(read);
  EXPECT_EQ(facts.kind, DeviceKind::Cuda);
  EXPECT_EQ(facts.name, p.device_name);
  EXPECT_EQ(facts.major, 9);
  EXPECT_EQ(facts.memory_bytes, int64_t{141} << 30);
  EXPECT_EQ(device_facts_of({}), DeviceFacts{});
}

TEST(HardwareProfile, ReadsTheTransportByItsOlderNameToo) {
  std::string text = to_toml(two_gpus());
  text.replace(text.find("transport = "), std::string("transport").size(), "carrier");
  EXPECT_EQ(parse_hardware_profile(text, "p.toml").transport, "nccl");
}

// What is wrong with it, as its reader says.
std::string refusal_of(const std::string& text) {
  try {
    parse_hardware_profile(text, "p.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config) << error.what();
    return error.what();
  }
  return "it was taken";
}

// The text with one line in the place of the one that begins with `key`.
std::string with_line(const std::string& key, const std::string& line) {
  std::string text = to_toml(two_gpus());
  const size_t begin = text.find("\n" + key) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

TEST(HardwareProfile, WhatIsNoProfileIsRefusedWithItsReason) {
  const std::pair<std::string, const char*> bad[] = {
      {"", "no version"},
      {"ranks = 2\n", "no version"},
      {"version = 2\n", "expected a hardware profile of version 1, got 2"},
      {"version = \"1\"\n", "version: expected a whole number"},
      {"not toml at all", "not valid TOML"},
      {"preset = \"llama_10m\"\n", "unknown setting"},
      {with_line("ranks", "ranks = 0"), "ranks: expected a whole number"},
      {with_line("ranks", "ranks = 3"), "expected a [[sender]] for each of 3 ranks, got 2"},
      {with_line("nodes", "nodes = 5"), "expected at most 2 nodes"},
      {with_line("kind", "kind = \"tpu\""), "expected one of cpu, cuda"},
      {with_line("sms", "sms = 0"), "expected name, major, sms"},
      {with_line("cores", "cores = -1"), "host.cores: expected"},
      {with_line("gemm_bf16", "gemm_bf16 = 1e300"), "rates.gemm_bf16: expected"},
      {with_line("gemm_bf16", "gemm_bf61 = 1"), "did you mean \"rates.gemm_bf16\"?"},
      {with_line("bytes_s", "bytes_s = \"0 x\""), "sender.bytes_s: expected whole numbers"},
      {with_line("bytes_s", "bytes_s = \"0  1\""), "sender.bytes_s: expected whole numbers"},
      {with_line("bytes_s", "bytes_s = \"0 -1\""), "sender.bytes_s: expected whole numbers"},
      {with_line("bytes_s", "bytes_s = \"0\""), "expected as many latencies as rates"},
      {with_line("rank = 0", "rank = 1"), "to be of rank 0, got 1"},
      {with_line("ns", "ns = 0"), "collective.ns: expected"},
      {with_line("kind = \"all_reduce\"", "kind = 1"), "collective.kind: expected"},
  };
  for (const auto& [text, reason] : bad) {
    const std::string refusal = refusal_of(text);
    EXPECT_NE(refusal.find(reason), std::string::npos) << text << "\n" << refusal;
    EXPECT_TRUE(refusal.starts_with("p.toml")) << refusal;
  }
}

TEST(HardwareProfile, EveryCutIsRefusedOrRead) {
  const std::string text = to_toml(two_gpus());
  for (size_t size = 0; size < text.size(); ++size) {
    try {
      parse_hardware_profile(text.substr(0, size), "p.toml");
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::Config) << error.what();
    }
  }
}

}  // namespace
}  // namespace ingot
