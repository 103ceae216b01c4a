// Parses the header of an HTTP reply line by line.
#pragma once

#include <string_view>

#include "remote/http_library.h"

namespace ingot {

// Adds one line («ETag: "x"»). A status line starts over: a redirect's reply is followed by another
// one. Lines and values that are not understood are ignored.
void read_header_line(std::string_view line, HttpReply& reply);

}  // namespace ingot
