#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "cli/bench/bench.h"

namespace ingot::cli {

double seconds_since_process_start() {
  // Field 22 of /proc/self/stat is the start in clock ticks since boot; the name in field 2 may
  // hold spaces, so fields are counted after its closing parenthesis.
  std::ifstream file("/proc/self/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double start_ticks = 0;
  fields >> start_ticks;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace ingot::cli
