#include "parallel/comm/control.h"

#include <algorithm>
#include <cstring>

#include "core/error/error.h"

namespace ingot {

void Control::barrier(std::string_view what, Timeout timeout) {
  gather(what, {}, timeout);
}

bool Control::any(std::string_view what, bool own, Timeout timeout) {
  const auto all = gather(what, own ? "1" : "0", timeout);
  return std::find(all.begin(), all.end(), "1") != all.end();
}

double Control::sum(std::string_view what, double own, Timeout timeout) {
  sum(what, std::span(&own, 1), timeout);
  return own;
}

void Control::sum(std::string_view what, std::span<double> values, Timeout timeout) {
  const std::vector<double> all = gather_values(what, values, timeout);
  std::copy_n(all.begin(), values.size(), values.begin());
  for (size_t at = values.size(); at < all.size(); at += values.size())
    for (size_t i = 0; i < values.size(); ++i) values[i] += all[at + i];
}

std::vector<double> Control::gather_values(std::string_view what, std::span<const double> own,
                                           Timeout timeout) {
  const auto texts =
      gather(what, {reinterpret_cast<const char*>(own.data()), own.size_bytes()}, timeout);
  std::vector<double> all(own.size() * texts.size());
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    check(texts[rank].size() == own.size_bytes(), ErrorCode::Internal,
          "{}: expected {} values of every rank, got {} of rank {}", what, own.size(),
          texts[rank].size() / sizeof(double), rank);
    if (!own.empty())
      std::memcpy(all.data() + rank * own.size(), texts[rank].data(), own.size_bytes());
  }
  return all;
}

}  // namespace ingot
