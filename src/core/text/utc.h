// Moments as records have them.
#pragma once

#include <chrono>
#include <string>

namespace ingot {

std::string format_utc(std::chrono::system_clock::time_point time);  // "2026-03-01T12:00:00.250Z"

}  // namespace ingot
