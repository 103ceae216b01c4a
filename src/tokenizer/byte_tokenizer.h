// What the byte tokenizer's file holds, for the loader to recognise it.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr std::string_view kByteTokenizerFile = "ingot tokenizer: byte\n";

}  // namespace ingot
