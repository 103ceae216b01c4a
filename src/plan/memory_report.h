// What a run takes of memory, by what it is for.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/advice.h"
#include "plan/fit.h"

namespace ingot {

struct MemoryReport {
  std::string device;  // "cpu", "NVIDIA H200"
  std::string precision;
  int64_t parameters = 0;
  int64_t ranks = 1;
  int device_ranks = 1;  // of them, that share the device
  MemoryFit fit;
  int64_t host_bytes = 0;              // of one rank, beside its device: what is offloaded
  std::optional<MemoryAdvice> advice;  // where it does not fit
};

MemoryReport memory_report(const ResolvedRun& run, int64_t free_bytes);

std::string text_of(const MemoryReport& report);  // several lines, the last without its end
nlohmann::json to_json(const MemoryReport& report);

}  // namespace ingot
