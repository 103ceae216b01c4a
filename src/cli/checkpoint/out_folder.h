// The folder that an import or an export creates.
#pragma once

#include <string>

namespace ingot::cli {

// `out` without slashes at its end; if it is a link to a folder, that folder. The new folder
// replaces an empty one by renaming, so the path must be the real one. Throws ErrorCode::Usage for
// a folder that cannot be replaced in this way: the current folder, a mount point.
std::string out_folder(const std::string& out);

}  // namespace ingot::cli
