// Counts, sizes, shares and times for people. All printed numbers go through these functions, so
// that a number looks the same in every command.
#pragma once

#include <cstdint>
#include <string>

namespace ingot {

std::string format_count(int64_t count);        // "1,234,567"
std::string format_short_count(int64_t count);  // "999", "76.8k", "1.23M", "70.6B"
std::string format_bytes(int64_t bytes);        // "512 B", "20.1 MB": decimal units
std::string format_duration(double seconds);    // "850 ms", "12.3 s", "4 min 05 s", "3 h 12 min"
std::string format_percent(double share,        // 0.613 -> "61.3 %"
                           int decimals = 1);
std::string format_percent(int64_t part, int64_t whole, int decimals = 1);  // 0 of 0 is 0 %
std::string format_byte_rate(int64_t bytes, double seconds);                // "20.1 MB/s"

}  // namespace ingot
