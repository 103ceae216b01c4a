// Modules: our shared libraries beside the program. They link libraries that the program must start
// without.
#pragma once

#include <string>

namespace ingot {

// `function` of the module `file`. The file lies beside the program, in the folder above it (for
// programs in bin/) or in lib/ingot there (as it is installed). The first call loads the module,
// which stays loaded. Throws ErrorCode::Missing if it cannot be loaded: «NEEDS, and …», in one
// line.
void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs);

// Why a module, or a library by the name that the loader knows ("libnccl.so.2"), cannot be loaded;
// empty where it can, and then it stays. Never throws.
std::string module_problem(const std::string& file);
std::string library_problem(const std::string& name);

}  // namespace ingot
