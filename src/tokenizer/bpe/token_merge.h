// A merge of two neighbouring tokens.
#pragma once

#include <cstdint>

namespace ingot {

struct TokenMerge {
  int32_t left, right, result;  // ids
  bool operator==(const TokenMerge&) const = default;
};

}  // namespace ingot
