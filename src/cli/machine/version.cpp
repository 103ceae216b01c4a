// ingot version
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <memory>

#include "cli/frame/command.h"
#include "core/device/cuda_facts.h"
#include "core/device/isa.h"
#include "core/device/thread_pool.h"
#include "core/text/format.h"

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

// The linker's note, in hexadecimal; empty where it made none. The program's own is the first.
int read_build_id(dl_phdr_info* info, size_t, void* into) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    for (const char* end = at + header.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
      const char* text = at + sizeof(note) + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID)
        for (size_t byte = 0; byte < note.n_descsz; ++byte)
          *static_cast<std::string*>(into) +=
              fmt::format("{:02x}", static_cast<unsigned char>(text[byte]));
      at = text + padded(note.n_descsz);
    }
  }
  return 1;
}

}  // namespace

std::string build_text() {
  std::string id;
  ::dl_iterate_phdr(read_build_id, &id);
  return fmt::format("ingot {} {}", INGOT_VERSION, id);
}

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
