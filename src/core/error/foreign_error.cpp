#include "core/error/foreign_error.h"

#include <filesystem>
#include <new>
#include <system_error>

#include "core/error/log.h"

namespace ingot {

Error translated(const std::exception& foreign) {
  if (const auto* ours = dynamic_cast<const Error*>(&foreign)) return *ours;
  log::debug("foreign_exception", {{"text", foreign.what()}});
  if (dynamic_cast<const std::bad_alloc*>(&foreign) != nullptr)
    return {ErrorCode::Memory, "out of memory: the system gave no more"};
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&foreign))
    return {ErrorCode::Storage,
            fmt::format("cannot use '{}': {}; check the path and the permissions",
                        file->path1().string(), file->code().message())};
  if (const auto* system = dynamic_cast<const std::system_error*>(&foreign))
    return {ErrorCode::Storage, fmt::format("the system refused: {}", system->code().message())};
  return {ErrorCode::Internal, "something unexpected happened; -v says more"};
}

}  // namespace ingot
