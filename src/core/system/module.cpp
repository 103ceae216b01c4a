#include "core/system/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/error/error.h"

namespace ingot {
namespace {

struct Loaded {
  void* handle = nullptr;
  std::string problem;  // why there is none
};

Loaded load(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return {handle, handle != nullptr ? "" : fmt::format("it could not be loaded: {}", dlerror())};
}

Loaded load_module(const std::string& file) {
  std::error_code failed;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  const auto above = folder.parent_path();
  for (const auto& path : {folder / file, above / file, above / "lib" / "ingot" / file})
    if (std::filesystem::exists(path, failed)) return load(path);
  return {nullptr, fmt::format("there is no {} beside the program", file)};
}

}  // namespace

void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs) {
  const Loaded module = load_module(file);
  check(module.handle != nullptr, ErrorCode::Missing, "{}, and {}", needs, module.problem);
  void* address = dlsym(module.handle, function.c_str());
  check(address != nullptr, ErrorCode::Internal, "{} has no {}", file, function);
  return address;
}

std::string module_problem(const std::string& file) {
  return load_module(file).problem;
}

std::string library_problem(const std::string& name) {
  return load(name).problem;
}

}  // namespace ingot
