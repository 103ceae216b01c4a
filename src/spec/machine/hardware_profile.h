// Measured machine performance, as a file: `ingot probe --save` writes it, planning reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_facts.h"
#include "spec/settings/settings.h"

namespace ingot {

inline constexpr int64_t kProfileVersion = 1;
// With more ranks than this a profile holds only the slowest links, not one row per rank.
inline constexpr int64_t kMaxProfileSenders = 64;

// Rates are bytes or operations per second, times are nanoseconds; 0: not measured.
struct HardwareProfile {
  // Rates from one rank to each rank, in rank order, with 0 for itself.
  struct Sender {
    int64_t rank = 0;
    std::vector<int64_t> bytes_s, latency_ns;
  };
  struct Collective {
    std::string kind, group;  // "all_reduce"; "world", "node", "leaders"
    int64_t ranks = 0;
    int64_t bytes = 0;  // of the unsharded tensor
    int64_t ns = 0;
  };

  int64_t version = kProfileVersion;
  std::string made;       // time of measurement: "2026-11-20T18:15:00Z"
  std::string transport;  // the transport of tensors: "threads", "tcp", "mpi", "nccl"
  int64_t ranks = 1, nodes = 1;

  bool on_gpu = false;  // whether the ranks compute on GPUs; the fields below it describe one
  std::string device_name;
  int64_t major = 0, minor = 0, sms = 0, device_memory_bytes = 0, l2_bytes = 0;

  int64_t cores = 1, host_memory_bytes = 0;  // of the node that has least

  // Of the slowest rank.
  int64_t gemm_f64 = 0, gemm_f32 = 0, gemm_tf32 = 0, gemm_bf16 = 0, gemm_fp8 = 0;
  int64_t memory_copy = 0;  // bytes read plus bytes written
  int64_t to_device = 0, from_device = 0, disk_write = 0, disk_read = 0;

  // The slowest link within a node, and between nodes.
  int64_t within_bytes_s = 0, within_latency_ns = 0, between_bytes_s = 0, between_latency_ns = 0;

  std::vector<Sender> senders;
  std::vector<Collective> collectives;
};

// Facts of the device that the ranks compute on.
DeviceFacts device_facts_of(const HardwareProfile& profile);

std::string to_toml(const HardwareProfile& profile);  // parses back to the same profile

// Throws ErrorCode::Config with file and line if the text is not a profile: not TOML, another
// version, unknown keys or impossible values.
HardwareProfile parse_hardware_profile(std::string_view toml, std::string_view origin);

}  // namespace ingot
