// How much memory a run needs, by purpose.
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
  int device_ranks = 1;  // ranks that share the device
  MemoryFit fit;
  int64_t host_bytes = 0;              // host memory of one rank: what it offloads
  std::optional<MemoryAdvice> advice;  // if the run does not fit
};

MemoryReport memory_report(const ResolvedRun& run, int64_t free_bytes);

std::string text_of(const MemoryReport& report);  // several lines, without a newline at the end
nlohmann::json to_json(const MemoryReport& report);

}  // namespace ingot
