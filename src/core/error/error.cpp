#include "core/error/error.h"

#include <utility>

#include "core/error/stack.h"

namespace ingot {

Error::Error(ErrorCode code, std::string message, std::source_location place)
    : std::runtime_error(std::move(message)), code_(code), place_(place) {
  if (code == ErrorCode::Comm) stack_ = stack_here(/*skipped=*/1);
}

std::string Error::place() const {
  std::string_view file = place_.file_name();
  // The checkout's own path says nothing to a reader of a log and differs between machines.
  constexpr std::string_view kRoot = "/src/";
  if (const size_t at = file.rfind(kRoot); at != std::string_view::npos) {
    file.remove_prefix(at + kRoot.size());
  } else if (const size_t slash = file.rfind('/'); slash != std::string_view::npos && slash > 0) {
    const size_t folder = file.rfind('/', slash - 1);
    if (folder != std::string_view::npos) file.remove_prefix(folder + 1);
  }
  return fmt::format("{}:{}", file, place_.line());
}

Error Error::during(std::string_view work) const {
  Error error(code_, fmt::format("{}: {}", work, what()), place_);
  error.rank_ = rank_;
  error.stack_ = stack_;
  return error;
}

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
      return "usage";
    case ErrorCode::Config:
      return "config";
    case ErrorCode::Data:
      return "data";
    case ErrorCode::Storage:
      return "storage";
    case ErrorCode::Memory:
      return "memory";
    case ErrorCode::Numeric:
      return "numeric";
    case ErrorCode::Comm:
      return "comm";
    case ErrorCode::Device:
      return "device";
    case ErrorCode::Missing:
      return "missing";
    case ErrorCode::Internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace ingot
