// Our modules: shared libraries beside the program that link what it must start without.
#pragma once

#include <string>

namespace ingot {

// `function` of the module `file`, which lies beside the program, in the folder above it (for
// programs in bin/) or in lib/ingot there (as it is installed). It is loaded at the first call and
// stays. Throws ErrorCode::Missing where it cannot be: «NEEDS, and …», in one line.
void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs);

// Why a module, or a library by the name that the loader knows ("libnccl.so.2"), cannot be loaded;
// empty where it can, and then it stays. Never throws.
std::string module_problem(const std::string& file);
std::string library_problem(const std::string& name);

}  // namespace ingot
