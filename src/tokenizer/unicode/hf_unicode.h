// Unicode as Hugging Face tokenizers' normalizers know it: normal forms and marks of Unicode 9,
// lower case of Unicode 17. Texts are valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };

void append_form(std::string_view text, UnicodeForm form, std::string& out);
void append_lower(std::string_view text, std::string& out);  // character by character
bool is_combining_mark(uint32_t code_point);

}  // namespace ingot
