// The nominal rate of a link, from the system or the maker's data sheet.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

struct LinkLimit {
  double bytes_s = 0.0;  // in one direction; 0: unknown
  std::string source;    // "eth0 to eth0, 1.0 Gbit/s", "NVLink of NVIDIA H200"
};

// Between two GPUs of one machine, by their driver's name: the maker's NVLink rate if they have
// NVLink, else the rate of the PCIe slot; 0 if unknown.
LinkLimit gpu_link_limit(std::string_view gpu);

std::string format_bit_rate(double bytes_s);  // "1.0 Gbit/s", "100 Mbit/s"

}  // namespace ingot
