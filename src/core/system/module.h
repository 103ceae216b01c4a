// Our modules: shared libraries beside the program that link what it must start without.
#pragma once

#include <string>

namespace ingot {

// `function` of the module `file`, which lies beside the program or, for programs in bin/, in the
// folder above. It is loaded at the first call and stays. Throws ErrorCode::Missing where it cannot
// be: «NEEDS, and …», in one line.
void* load_module_function(const std::string& file, const std::string& function,
                           const std::string& needs);

}  // namespace ingot
