#include "spec/machine/hardware_profile.h"

#include <algorithm>
#include <charconv>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr double kMostRanks = 1e6;
constexpr double kMost = 9e15;  // as far as a double counts: of bytes, rates and nanoseconds

std::vector<Setting> settings_of(HardwareProfile& p) {
  const auto amount = [](const char* name, int64_t& field, const char* unit, const char* doc) {
    return integer_setting(name, field, {0, kMost}, unit, doc);
  };
  return {
      integer_setting("version", p.version, {1, kMost}, "", "Of this format."),
      text_setting("made", p.made, "When it was measured."),
      text_setting("transport", p.transport, "Of tensors: threads, tcp, mpi or nccl."),
      integer_setting("ranks", p.ranks, {1, kMostRanks}, "", "Ranks that were measured."),
      integer_setting("nodes", p.nodes, {1, kMostRanks}, "", "Machines that they ran on."),
      enum_setting<bool>("device.kind", p.on_gpu, {{"cpu", false}, {"cuda", true}},
                         "What each rank computes on."),
      text_setting("device.name", p.device_name, "As the driver calls the GPU."),
      integer_setting("device.major", p.major, {0, 100}, "", "Compute capability."),
      integer_setting("device.minor", p.minor, {0, 100}, "", "Compute capability, after the dot."),
      integer_setting("device.sms", p.sms, {0, 1e5}, "", "Multiprocessors."),
      amount("device.memory_bytes", p.device_memory_bytes, "bytes", "Memory of the GPU."),
      amount("device.l2_bytes", p.l2_bytes, "bytes", "Cache of the GPU."),
      integer_setting("host.cores", p.cores, {1, 1e5}, "", "Cores of the least node."),
      amount("host.memory_bytes", p.host_memory_bytes, "bytes", "Memory of the least node."),
      amount("rates.gemm_f64", p.gemm_f64, "FLOP/s", "GEMM in f64."),
      amount("rates.gemm_f32", p.gemm_f32, "FLOP/s", "GEMM in f32."),
      amount("rates.gemm_tf32", p.gemm_tf32, "FLOP/s", "GEMM in tf32."),
      amount("rates.gemm_bf16", p.gemm_bf16, "FLOP/s", "GEMM in bf16."),
      amount("rates.gemm_fp8", p.gemm_fp8, "FLOP/s", "GEMM of 8-bit operands."),
      amount("rates.memory_copy", p.memory_copy, "bytes/s", "Read plus written in a copy."),
      amount("rates.to_device", p.to_device, "bytes/s", "Pinned host memory to GPU."),
      amount("rates.from_device", p.from_device, "bytes/s", "GPU to pinned host memory."),
      amount("rates.disk_write", p.disk_write, "bytes/s", "Written and synced."),
      amount("rates.disk_read", p.disk_read, "bytes/s", "Read past the page cache."),
      amount("links.within_bytes_s", p.within_bytes_s, "bytes/s", "Slowest link in a node."),
      amount("links.within_latency_ns", p.within_latency_ns, "ns", "Longest latency in a node."),
      amount("links.between_bytes_s", p.between_bytes_s, "bytes/s", "Slowest between nodes."),
      amount("links.between_latency_ns", p.between_latency_ns, "ns", "Longest between nodes."),
  };
}

std::string words_of(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::vector<int64_t> numbers_of(std::string_view words, std::string_view name) {
  std::vector<int64_t> numbers;
  for (const char* at = words.data(); at != words.data() + words.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(at, words.data() + words.size(), number);
    const bool ends_here = end == words.data() + words.size();
    check(error == std::errc() && number >= 0 && static_cast<double>(number) <= kMost &&
              (ends_here || (*end == ' ' && end + 1 != words.data() + words.size())),
          ErrorCode::Config, "{}: expected whole numbers with a space between them, got \"{}\"",
          name, on_one_line(words.substr(0, 60)));
    numbers.push_back(number);
    at = ends_here ? end : end + 1;
  }
  return numbers;
}

std::vector<Setting> settings_of(HardwareProfile::Sender& sender) {
  const auto row = [](const std::string& name, std::vector<int64_t>& field,
                      const std::string& doc) {
    return converted_setting(
        name, doc, [&field] { return words_of(field); },
        [&field, name](std::string_view words) { field = numbers_of(words, name); });
  };
  return {integer_setting("sender.rank", sender.rank, {0, kMostRanks}, "", "Who sends."),
          row("sender.bytes_s", sender.bytes_s, "To each rank."),
          row("sender.latency_ns", sender.latency_ns, "To each rank.")};
}

std::vector<Setting> settings_of(HardwareProfile::Collective& row) {
  return {text_setting("collective.kind", row.kind, "all_reduce, all_gather, …"),
          text_setting("collective.group", row.group, "world, node or leaders."),
          integer_setting("collective.ranks", row.ranks, {1, kMostRanks}, "", "In the group."),
          integer_setting("collective.bytes", row.bytes, {1, kMost}, "bytes", "Whole tensor."),
          integer_setting("collective.ns", row.ns, {1, kMost}, "ns", "Until every rank has it.")};
}

void check_sender(const HardwareProfile::Sender& sender) {
  check(sender.bytes_s.size() == sender.latency_ns.size(), ErrorCode::Config,
        "sender: expected as many latencies as rates, got {} and {}", sender.latency_ns.size(),
        sender.bytes_s.size());
}

void check_whole(const HardwareProfile& p, std::string_view origin) {
  check(p.nodes <= p.ranks, ErrorCode::Config, "{}: expected at most {} nodes, one a rank, got {}",
        origin, p.ranks, p.nodes);
  check(!p.on_gpu || (!p.device_name.empty() && p.major > 0 && p.sms > 0 &&
                      p.device_memory_bytes > 0 && p.l2_bytes > 0),
        ErrorCode::Config,
        "{}: device: expected name, major, sms, memory_bytes and l2_bytes of a GPU", origin);
  check(p.senders.empty() || static_cast<int64_t>(p.senders.size()) == p.ranks, ErrorCode::Config,
        "{}: expected a [[sender]] for each of {} ranks, got {}", origin, p.ranks,
        p.senders.size());
  for (size_t i = 0; i < p.senders.size(); ++i) {
    const auto& sender = p.senders[i];
    check(sender.rank == static_cast<int64_t>(i), ErrorCode::Config,
          "{}: expected [[sender]] {} to be of rank {}, got {}", origin, i, i, sender.rank);
    check(static_cast<int64_t>(sender.bytes_s.size()) == p.ranks, ErrorCode::Config,
          "{}: sender {}: expected a number for each of {} ranks, got {}", origin, i, p.ranks,
          sender.bytes_s.size());
  }
  for (const auto& row : p.collectives)
    check(row.ranks <= p.ranks, ErrorCode::Config,
          "{}: collective: expected at most {} ranks, got {}", origin, p.ranks, row.ranks);
}

// "a.b" in the section [a].
std::string lines_of(const std::vector<Setting>& settings) {
  std::string text, section;
  for (const Setting& setting : settings) {
    const size_t dot = setting.name.find('.');
    const std::string own = dot == std::string::npos ? "" : setting.name.substr(0, dot);
    if (own != section) text += fmt::format("\n[{}]\n", own);
    section = own;
    text += fmt::format("{} = {}\n",
                        dot == std::string::npos ? setting.name : setting.name.substr(dot + 1),
                        toml_text(setting.get()));
  }
  return text;
}

template <class Row>
std::string list_lines(const char* name, const std::vector<Row>& rows) {
  std::string text;
  for (Row row : rows) {
    text += fmt::format("\n[[{}]]\n", name);
    for (const Setting& setting : settings_of(row))
      text += fmt::format("{} = {}\n", setting.name.substr(setting.name.find('.') + 1),
                          toml_text(setting.get()));
  }
  return text;
}

}  // namespace

DeviceFacts device_facts_of(const HardwareProfile& profile) {
  if (!profile.on_gpu) return {};
  return {.kind = DeviceKind::Cuda,
          .name = profile.device_name,
          .major = static_cast<int>(profile.major),
          .minor = static_cast<int>(profile.minor),
          .num_sms = static_cast<int>(profile.sms),
          .memory_bytes = profile.device_memory_bytes,
          .l2_bytes = profile.l2_bytes};
}

std::string to_toml(const HardwareProfile& profile) {
  HardwareProfile copy = profile;  // declarations are bound to fields that they could set
  return lines_of(settings_of(copy)) + list_lines("sender", profile.senders) +
         list_lines("collective", profile.collectives);
}

HardwareProfile parse_hardware_profile(std::string_view toml, std::string_view origin) {
  HardwareProfile profile;
  profile.version = 0;  // a file that does not say is none
  std::vector<Setting> settings = settings_of(profile);
  settings.push_back(
      text_setting("carrier", profile.transport, "The transport, as older programs wrote it."));
  apply_toml(toml, origin, {}, settings, "docs/probe.md",
             {{"sender", [&] { return settings_of(profile.senders.emplace_back()); },
               [&] { check_sender(profile.senders.back()); }},
              {"collective", [&] { return settings_of(profile.collectives.emplace_back()); },
               [&] {
                 const auto& row = profile.collectives.back();
                 check(row.ranks > 0 && row.bytes > 0 && row.ns > 0, ErrorCode::Config,
                       "collective: expected ranks, bytes and ns above 0");
               }}});
  check(profile.version == kProfileVersion, ErrorCode::Config,
        "{}: expected a hardware profile of version {}, got {}; make it with `ingot probe --save`",
        origin, kProfileVersion,
        profile.version == 0 ? std::string("no version") : fmt::format("{}", profile.version));
  check_whole(profile, origin);
  return profile;
}

}  // namespace ingot
