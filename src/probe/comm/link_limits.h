// What a link should carry, by what the system and the maker say of it.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

struct LinkLimit {
  double bytes_s = 0.0;  // in one direction; 0: not known
  std::string source;    // "eth0 to eth0, 1.0 Gbit/s", "NVLink of NVIDIA H200"
};

// From one GPU to another of the same machine, by the driver's name of them: the maker's NVLink
// rate where there is NVLink, else that of the PCIe slot. Not known: 0.
LinkLimit gpu_link_limit(std::string_view gpu);

std::string format_bit_rate(double bytes_s);  // "1.0 Gbit/s", "100 Mbit/s"

}  // namespace ingot
