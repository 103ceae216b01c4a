#include "cli/checkpoint/out_folder.h"

#include <sys/stat.h>

#include <filesystem>

#include "core/error/error.h"
#include "core/storage/storage.h"

namespace ingot::cli {

std::string out_folder(const std::string& out) {
  namespace fs = std::filesystem;
  std::string folder = out;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  check(!folder.empty(), ErrorCode::Usage, "--out: expected the name of a folder");
  std::error_code reason;
  if (fs::is_symlink(folder, reason)) {
    folder = fs::canonical(folder, reason).string();
    check(!reason, ErrorCode::Usage, "--out {}: the link leads nowhere; make its folder first",
          out);
  }
  if (!fs::is_directory(folder, reason)) return folder;
  struct stat here {
  }, above{};
  const std::string parent = (fs::path(folder) / "..").string();
  const bool known = ::stat(folder.c_str(), &here) == 0 && ::stat(parent.c_str(), &above) == 0;
  const bool is_mount = known && (here.st_dev != above.st_dev || here.st_ino == above.st_ino);
  const bool is_current = fs::equivalent(folder, ".", reason);
  check(!is_mount && !is_current, ErrorCode::Usage,
        "--out {}: {} cannot be replaced; name a new folder in it", out,
        is_mount ? "a mount point" : "the current folder");
  return folder;
}

}  // namespace ingot::cli
