#include "core/device/device_facts.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/device/cuda_facts.h"
#include "core/error/error.h"
#include "core/text/ascii.h"
#include "core/text/nearest.h"

namespace ingot {
namespace {

struct KnownGpu {
  const char* short_name;
  const char* name;
  int major, minor, num_sms;
  int64_t memory_mib, l2_mib;
  const char* also;  // words that may stand beside those of the short name
};

// As drivers report them: memory as nvidia-smi shows it. Peaks are in spec/machine/gpu_peaks.cpp,
// by name.
constexpr std::array kKnownGpus = {
    KnownGpu{"h200", "NVIDIA H200", 9, 0, 132, 143771, 60, "sxm sxm5 141gb hbm3e"},
    KnownGpu{"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 81559, 50, "sxm sxm5 80gb hbm3"},
    KnownGpu{"h100-pcie", "NVIDIA H100 PCIe", 9, 0, 114, 81559, 50, "80gb hbm2e"},
    KnownGpu{"b200", "NVIDIA B200", 10, 0, 148, 183359, 126, "sxm 180gb 192gb hbm3e"},
    KnownGpu{"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 81920, 40, "sxm sxm4 80gb hbm2e"},
    KnownGpu{"a100-40gb", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 40960, 40, "sxm sxm4 hbm2"},
    KnownGpu{"l40s", "NVIDIA L40S", 8, 9, 142, 46068, 96, "48gb"},
    KnownGpu{"l4", "NVIDIA L4", 8, 9, 58, 23034, 48, "24gb"},
    KnownGpu{"a6000", "NVIDIA RTX A6000", 8, 6, 84, 49140, 6, "48gb"},
    KnownGpu{"rtx5090", "NVIDIA GeForce RTX 5090", 12, 0, 170, 32607, 96, "geforce 32gb"},
    KnownGpu{"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 24564, 72, "geforce 24gb"},
    KnownGpu{"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 24576, 6, "geforce 24gb"},
};

using Words = std::set<std::string>;

// "NVIDIA A100-SXM4-80GB" → a100, sxm4, 80gb. Maker and series say nothing: "RTX 4090", "rtx4090"
// and "4090" are the same card.
Words words_of(std::string_view name) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (word.starts_with("rtx") && word.size() > 3) words.insert(word = word.substr(3));
    if (!word.empty() && word != "nvidia" && word != "rtx") words.insert(word);
    word.clear();
  };
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_')
      end_word();
    else
      word += c;
  }
  end_word();
  return words;
}

bool includes(const Words& all, const Words& some) {
  return std::ranges::includes(all, some);
}

// All that its short name says is said, and nothing that it is not.
bool is_called(const KnownGpu& gpu, const Words& words) {
  const Words needed = words_of(gpu.short_name);
  Words possible = words_of(gpu.also);
  possible.insert(needed.begin(), needed.end());
  return includes(words, needed) && includes(possible, words);
}

}  // namespace

DeviceFacts device_facts(Device device) {
  if (device.kind == DeviceKind::Cpu) return {};
  const auto facts = cuda_facts();
  const size_t count = facts ? facts->devices.size() : 0;
  const auto index = static_cast<size_t>(device.index);
  check(index < count, ErrorCode::Missing, "there is no {}: this machine has {} usable GPUs",
        device, count);
  return facts->devices[index];
}

std::optional<DeviceFacts> known_gpu(std::string_view name) {
  const Words words = words_of(lower_case(name));
  for (const KnownGpu& gpu : kKnownGpus)
    if (is_called(gpu, words))
      return DeviceFacts{.kind = DeviceKind::Cuda,
                         .name = gpu.name,
                         .major = gpu.major,
                         .minor = gpu.minor,
                         .num_sms = gpu.num_sms,
                         .memory_bytes = gpu.memory_mib << 20,
                         .l2_bytes = gpu.l2_mib << 20};
  return std::nullopt;
}

std::vector<std::string> known_gpu_names() {
  std::vector<std::string> names;
  for (const KnownGpu& gpu : kKnownGpus) names.emplace_back(gpu.short_name);
  return names;
}

std::string nearest_gpu_name(std::string_view wrong) {
  std::vector<std::string> names = known_gpu_names();
  for (const KnownGpu& gpu : kKnownGpus)
    for (const std::string& word : words_of(gpu.also))
      names.push_back(fmt::format("{}-{}", gpu.short_name, word));
  return nearest_name(lower_case(wrong), names);
}

}  // namespace ingot
