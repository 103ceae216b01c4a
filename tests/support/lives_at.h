// Whether a row of the tensor table has contents at a tick.
#pragma once

#include <algorithm>

#include "spec/table/tensor_table.h"

namespace ingot::test {

inline bool lives_at(const TensorSpec& row, int tick) {
  return std::any_of(row.lives.begin(), row.lives.end(),
                     [tick](const Lifetime& life) { return life.at(tick); });
}

}  // namespace ingot::test
