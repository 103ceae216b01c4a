#include "parallel/comm/world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/error/error.h"

namespace ingot {

std::unique_ptr<Communicator> World::everyone(Context& compute) {
  std::vector<int> ranks(static_cast<size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return communicator(ranks, compute);
}

void World::check_group(std::span<const int> ranks) const {
  const bool increasing =
      std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end();
  check(increasing && !ranks.empty() && ranks.front() >= 0 && ranks.back() < size() &&
            std::binary_search(ranks.begin(), ranks.end(), rank()),
        ErrorCode::Internal,
        "communicator: expected increasing ranks in [0, {}) with {} among them, got [{}]", size(),
        rank(), fmt::join(ranks, ", "));
}

}  // namespace ingot
