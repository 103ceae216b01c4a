// Runs a test on each instruction set the machine has.
#pragma once

#include <vector>

#include "core/device/isa.h"

namespace ingot::test {

// Forces an ISA for as long as it lives.
class ForcedIsa {
 public:
  explicit ForcedIsa(cpu::Isa isa) : before_(cpu::active_isa()) { cpu::force_isa(isa); }
  ~ForcedIsa() { cpu::force_isa(before_); }
  ForcedIsa(const ForcedIsa&) = delete;
  ForcedIsa& operator=(const ForcedIsa&) = delete;

 private:
  cpu::Isa before_;
};

inline std::vector<cpu::Isa> runnable_isas() {
  std::vector<cpu::Isa> isas;
  for (cpu::Isa isa : cpu::kAllIsas)
    if (isa <= cpu::best_isa()) isas.push_back(isa);
  return isas;
}

inline std::vector<cpu::DotIsa> runnable_dot_isas() {
  std::vector<cpu::DotIsa> isas;
  for (cpu::DotIsa isa : cpu::kAllDotIsas)
    if (cpu::can_run(isa)) isas.push_back(isa);
  return isas;
}

}  // namespace ingot::test
