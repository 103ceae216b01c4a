#include "train/hooks/deadlines.h"

namespace ingot {

Deadlines deadlines_of(const SystemConfig& system) {
  const auto after = [](double seconds) {
    return std::chrono::duration_cast<Timeout>(std::chrono::duration<double>(seconds));
  };
  return {.start = after(system.timeout_start),
          .collective = after(system.timeout_collective),
          .save = after(system.timeout_save),
          .validation = after(system.timeout_validation),
          .silence = after(system.timeout_silence)};
}

}  // namespace ingot
