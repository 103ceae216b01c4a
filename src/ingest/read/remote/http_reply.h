// The head of an HTTP reply, line by line.
#pragma once

#include <string_view>

#include "ingest/read/remote/http_library.h"

namespace ingot {

// Adds what one line says («ETag: "x"»). A status line begins anew: a redirect's answer is followed
// by another. Lines and values that are not understood change nothing.
void read_header_line(std::string_view line, HttpReply& reply);

}  // namespace ingot
