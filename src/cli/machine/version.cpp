// ingot version
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <memory>

#include "cli/frame/command.h"
#include "cli/machine/licenses.h"
#include "cli/machine/parts.h"
#include "core/device/isa.h"
#include "core/device/thread_pool.h"

namespace ingot::cli {
namespace {

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

std::vector<std::string> isas_up_to(cpu::Isa widest) {
  std::vector<std::string> names;
  for (const cpu::Isa isa : cpu::kAllIsas)
    if (isa <= widest) names.emplace_back(cpu::name_of(isa));
  return names;
}

nlohmann::json json_of(const std::vector<Part>& parts) {
  nlohmann::json all = nlohmann::json::object();
  for (const Part& part : parts)
    all[part.name] = {{"in_build", part.in_build},
                      {"works", part.in_build && part.problem.empty()},
                      {"serves", part.serves},
                      {"facts", part.facts},
                      {"problem", part.problem}};
  return all;
}

}  // namespace

std::string build_text() {
  std::string id;
  ::dl_iterate_phdr(read_build_id, &id);
  return fmt::format("ingot {} {}", INGOT_VERSION, id);
}

std::string version_text() {
  std::string text = fmt::format(
      "ingot {}\n"
      "{:<15} {}, {}\n"
      "{:<15} {} (chosen now; in this build {}; this machine runs {})\n"
      "{:<15} {}\n",
      INGOT_VERSION, "build", INGOT_COMPILER, INGOT_BUILD_TYPE, "ISA",
      cpu::name_of(cpu::active_isa()), fmt::join(isas_up_to(cpu::Isa::Avx512), ", "),
      fmt::join(isas_up_to(cpu::best_isa()), ", "), "cores", available_cores());
  const auto add = [&](const char* title, const std::vector<Part>& parts) {
    text += fmt::format("{}\n", title);
    for (const Part& part : parts) text += fmt::format("  {:<13} {}\n", part.name, text_of(part));
  };
  add("backends", backends());
  add("libraries", libraries());
  return text;
}

void add_version(Command& program) {
  auto json = std::make_shared<JsonOption>();
  auto licenses = std::make_shared<bool>(false);
  auto* version = program.add_subcommand(
      "version", "version, and what this build and this machine have and lack");
  version->add_flag("--licenses", *licenses, "the licences of Ingot and of all it is built from");
  json->add_to(*version);
  version->callback([json, licenses] {
    if (*licenses) {
      fmt::print("{}\n{}", license_text(), notice_text());
      json->print({{"license", license_text()}, {"notice", notice_text()}});
      return;
    }
    fmt::print("{}", version_text());
    json->print({{"version", INGOT_VERSION},
                 {"compiler", INGOT_COMPILER},
                 {"build", INGOT_BUILD_TYPE},
                 {"isa",
                  {{"active", cpu::name_of(cpu::active_isa())},
                   {"build", isas_up_to(cpu::Isa::Avx512)},
                   {"machine", isas_up_to(cpu::best_isa())}}},
                 {"cores", available_cores()},
                 {"backends", json_of(backends())},
                 {"libraries", json_of(libraries())}});
  });
}

}  // namespace ingot::cli
