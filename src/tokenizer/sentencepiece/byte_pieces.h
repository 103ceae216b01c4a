// Byte pieces, "<0x00>" … "<0xFF>".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot {

std::optional<uint8_t> byte_of_piece(std::string_view piece);
std::string piece_of_byte(uint8_t byte);

}  // namespace ingot
