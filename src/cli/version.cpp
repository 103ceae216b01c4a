// ingot version
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "core/cuda_facts.h"
#include "core/isa.h"
#include "core/text/format.h"
#include "core/thread_pool.h"

namespace ingot::cli {
namespace {

std::string cuda_text() {
  const auto facts = cuda_facts();
  if (!facts) return "not in this build";
  std::string text = fmt::format("runtime {}, driver {}", facts->runtime,
                                 facts->driver.empty() ? "none" : facts->driver);
  for (const DeviceFacts& device : facts->devices)
    text += fmt::format(", {} (sm_{}{}, {})", device.name, device.major, device.minor,
                        format_bytes(device.memory_bytes));
  return text;
}

}  // namespace

std::string version_text() {
  return fmt::format(
      "ingot {}\n"
      "build     {}, {}\n"
      "backends  {}\n"
      "ISA       {} (chosen now; built for generic, avx2, avx512)\n"
      "cores     {}\n"
      "CUDA      {}\n"
      "MPI       not in this build\n",
      INGOT_VERSION, INGOT_COMPILER, INGOT_BUILD_TYPE, cuda_facts() ? "cpu, cuda" : "cpu",
      cpu::name_of(cpu::active_isa()), available_cores(), cuda_text());
}

void add_version(Command& program) {
  auto json = std::make_shared<JsonOption>();
  auto* version = program.add_subcommand("version", "version and build facts");
  json->add_to(*version);
  version->callback([json] {
    fmt::print("{}", version_text());
    json->print({{"version", INGOT_VERSION},
                 {"compiler", INGOT_COMPILER},
                 {"build", INGOT_BUILD_TYPE},
                 {"isa", cpu::name_of(cpu::active_isa())},
                 {"cores", available_cores()},
                 {"cuda", cuda_text()}});
  });
}

}  // namespace ingot::cli
