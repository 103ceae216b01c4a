// What the CUDA side of this build and machine is, in words. Free of CUDA headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

struct CudaDevice {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;  // the cache that all multiprocessors share
};

struct CudaFacts {
  std::string runtime;  // "13.0": what this program was built with
  std::string driver;   // "13.0": the newest runtime the driver serves; empty: no driver
  std::vector<CudaDevice> devices;  // empty: none usable
};

// Nothing when this build has no CUDA backend. Never throws: no driver and no device are answers.
std::optional<CudaFacts> cuda_facts();

}  // namespace ingot
