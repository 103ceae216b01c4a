#include "parallel/comm/control.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace ingot {

void Control::barrier(std::string_view what, Patience patience) {
  gather(what, {}, patience);
}

bool Control::any(std::string_view what, bool own, Patience patience) {
  const auto all = gather(what, own ? "1" : "0", patience);
  return std::find(all.begin(), all.end(), "1") != all.end();
}

double Control::sum(std::string_view what, double own, Patience patience) {
  sum(what, std::span(&own, 1), patience);
  return own;
}

void Control::sum(std::string_view what, std::span<double> values, Patience patience) {
  const std::string_view own(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const auto all = gather(what, own, patience);
  for (size_t rank = 0; rank < all.size(); ++rank)
    check(all[rank].size() == own.size(), ErrorCode::Internal,
          "{}: expected {} values of every rank, got {} of rank {}", what, values.size(),
          all[rank].size() / sizeof(double), rank);
  std::memcpy(values.data(), all[0].data(), own.size());
  for (size_t rank = 1; rank < all.size(); ++rank)
    for (size_t i = 0; i < values.size(); ++i) {
      double addend;
      std::memcpy(&addend, all[rank].data() + i * sizeof(double), sizeof(double));
      values[i] += addend;
    }
}

void Control::agree(std::string_view what, std::string_view own, Patience patience) {
  const auto all = gather(what, own, patience);
  for (size_t rank = 1; rank < all.size(); ++rank)
    check(all[rank] == all[0], ErrorCode::Config,
          "{}: expected the same on all ranks, got «{}» on rank 0 and «{}» on rank {}", what,
          all[0], all[rank], rank);
}

}  // namespace ingot
