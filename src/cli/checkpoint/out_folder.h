// The folder that an import or an export is to make.
#pragma once

#include <string>

namespace ingot::cli {

// `out` without slashes at its end and, where it is a link to a folder, what it leads to: the new
// folder takes the place of an empty one by renaming, which must happen there. Throws
// ErrorCode::Usage for what cannot be replaced so: the current folder, a mount point.
std::string out_folder(const std::string& out);

}  // namespace ingot::cli
