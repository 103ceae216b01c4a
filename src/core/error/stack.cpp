#include "core/error/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace ingot {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 ? text.get() : name;
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::vector<void*> stack_here(size_t skipped) {
  std::array<void*, 64> frames{};
  const int found = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto count = static_cast<size_t>(found);
  return std::vector<void*>(frames.begin() + std::min(skipped + 1, count), frames.begin() + count);
}

std::vector<std::string> stack_lines(std::span<void* const> stack) {
  std::vector<std::string> lines;
  for (void* const frame : stack) {
    const auto address = reinterpret_cast<uintptr_t>(frame);
    Dl_info found{};
    if (::dladdr(frame, &found) == 0 || found.dli_fname == nullptr) {
      lines.push_back(fmt::format("{:#x}", address));
      continue;
    }
    const auto base = reinterpret_cast<uintptr_t>(found.dli_fbase);
    const std::string place =
        fmt::format("{} {:#x}", file_name_of(found.dli_fname), address - base);
    if (found.dli_sname == nullptr) {
      lines.push_back(place);
      continue;
    }
    const auto begin = reinterpret_cast<uintptr_t>(found.dli_saddr);
    lines.push_back(
        fmt::format("{} + {:#x} ({})", demangled(found.dli_sname), address - begin, place));
  }
  return lines;
}

}  // namespace ingot
