#include <fmt/format.h>

#include "cli/command.h"
#include "core/thread_pool.h"
#include "ops/cpu/isa.h"

namespace ingot::cli {

std::string version_text() {
  return fmt::format(
      "ingot {}\n"
      "build     {}, {}\n"
      "backends  cpu\n"
      "ISA       {} (chosen now; built for generic, avx2, avx512)\n"
      "cores     {}\n"
      "CUDA      not in this build\n"
      "MPI       not in this build\n",
      INGOT_VERSION, INGOT_COMPILER, INGOT_BUILD_TYPE, cpu::name_of(cpu::active_isa()),
      available_cores());
}

}  // namespace ingot::cli
