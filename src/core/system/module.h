// Modules: our shared libraries beside the program. They link libraries that the program must start
// without.
#pragma once

#include <string>

namespace ingot {

// `function` of the module `file`. The file lies beside the program or, for programs in bin/, in
// the parent folder. The first call loads the module, which stays loaded. Throws ErrorCode::Missing
// if it cannot be loaded: «NEEDS, and …», in one line.
void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs);

}  // namespace ingot
