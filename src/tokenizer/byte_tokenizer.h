// The contents of the byte tokenizer's file, by which the loader recognises it.
#pragma once

#include <string_view>

namespace ingot {

inline constexpr std::string_view kByteTokenizerFile = "ingot tokenizer: byte\n";

}  // namespace ingot
