// SHA-1, for n-gram hashes equal to those of FineWeb's recipe. Not for security.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ingot {

// Generic is for tests: the result is the same.
enum class Sha1Code { Fastest, Generic };

std::array<uint8_t, 20> sha1(std::string_view bytes, Sha1Code code = Sha1Code::Fastest);

}  // namespace ingot
