// Unicode's normal form C.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

// `text` itself when it is in NFC already, which most text is; otherwise its normal form, put into
// `storage`. Bytes that are not UTF-8 stay as they are.
std::string_view to_nfc(std::string_view text, std::string& storage);

std::string_view nfc_unicode_version();  // of the library that does it

}  // namespace ingot
