// Unicode's normal form C.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// `text` itself if it is in NFC already, like most text; otherwise its normal form, stored in
// `storage`. Bytes that are not valid UTF-8 stay unchanged.
std::string_view to_nfc(std::string_view text, std::string& storage);

}  // namespace ingot
