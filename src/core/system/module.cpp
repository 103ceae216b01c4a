#include "core/system/module.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/error/error.h"

namespace ingot {

void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto& path : {folder / file, folder.parent_path() / file}) {
    if (!std::filesystem::exists(path)) continue;
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    check(module != nullptr, ErrorCode::Missing, "{}, and it could not be loaded: {}", needs,
          dlerror());
    void* address = dlsym(module, function.c_str());
    check(address != nullptr, ErrorCode::Internal, "{} has no {}", path.string(), function);
    return address;
  }
  throw Error(ErrorCode::Missing,
              fmt::format("{}, and there is no {} beside the program", needs, file));
}

}  // namespace ingot
