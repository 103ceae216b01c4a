// utf8proc's normal forms, for the two files that know which of its characters must not change.
#pragma once

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "core/error/error.h"

namespace ingot {

// `options`: UTF8PROC_… flags. `text` is valid UTF-8.
inline void append_mapped(std::string_view text, int options, std::string& out) {
  if (text.empty()) return;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, std::free);
  check(size >= 0, ErrorCode::Internal, "the normal form of {} bytes: {}", text.size(),
        utf8proc_errmsg(size));
  out.append(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
}

}  // namespace ingot
