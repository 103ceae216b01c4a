// SipHash-2-4 with 128 bits: a keyed hash that cannot be computed without the key.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace ingot::tcp {

using Key = std::array<std::byte, 16>;
using Mac = std::array<std::byte, 16>;

Mac siphash(const Key& key, std::span<const std::byte> bytes);
Mac siphash(const Key& key, std::string_view text);

}  // namespace ingot::tcp
